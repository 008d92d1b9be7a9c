" Only the plugin's own lines begin in the first column, see acp_nvim/drawing.py.

syntax match AcpTitle /^\S.*/
syntax match AcpUser /^You$/
syntax match AcpUser /^You · .*/
syntax match AcpAgent /^Agent$/
syntax match AcpAsk /^Permission · .*/
syntax match AcpState /^── .*/
syntax match AcpRefused /^You · refused.*/
syntax match AcpQuote /^  │ .*/
syntax match AcpAdded /^  │ +.*/
syntax match AcpRemoved /^  │ -.*/
syntax match AcpHunk /^  │ @@.*/
syntax match AcpCommand /^  \$ .*/
syntax match AcpOption /^  \[\d\+\] .*/
syntax region AcpThought start=/^Thought$/ end=/^\ze\S/ keepend
syntax sync minlines=200

highlight default link AcpTitle Function
highlight default link AcpUser Title
highlight default link AcpAgent Statement
highlight default link AcpThought Comment
highlight default link AcpAsk WarningMsg
highlight default link AcpOption WarningMsg
highlight default link AcpRefused ErrorMsg
highlight default link AcpState StatusLine
highlight default link AcpQuote Normal
highlight default link AcpAdded DiffAdd
highlight default link AcpRemoved DiffDelete
highlight default link AcpHunk PreProc
highlight default link AcpCommand Identifier
highlight default link AcpCompleted String
highlight default link AcpRunning WarningMsg
highlight default link AcpFailed ErrorMsg
highlight default link AcpWaiting Comment
