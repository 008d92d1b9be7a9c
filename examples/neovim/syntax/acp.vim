" Lines that are not indented begin with a word of the plugin, see acp_nvim/drawing.py.

syntax match AcpTitle /^\S.*/
syntax match AcpUser /^You\>.*/
syntax match AcpRefused /^You · refused.*/
syntax match AcpAgent /^Agent$/
syntax match AcpAsk /^Permission · .*/
syntax match AcpOption /^  \[\d\] .*/
syntax match AcpState /^── .*/
syntax match AcpCommand /^  \$ .*/
syntax match AcpBar /^  │/ nextgroup=AcpAdded,AcpRemoved,AcpHunk,AcpFile
syntax match AcpAdded / +.*/ contained
syntax match AcpRemoved / -.*/ contained
syntax match AcpHunk / @@.*/ contained
syntax match AcpFile / \(diff\|+++\|---\) .*/ contained
syntax region AcpThought start=/^Thought$/ end=/^\ze\S/ keepend
syntax sync minlines=200

highlight default link AcpTitle Function
highlight default link AcpUser Title
highlight default link AcpRefused ErrorMsg
highlight default link AcpAgent Statement
highlight default link AcpThought Comment
highlight default link AcpAsk WarningMsg
highlight default link AcpOption WarningMsg
highlight default link AcpState StatusLine
highlight default link AcpCommand Identifier
highlight default link AcpBar Comment
highlight default link AcpAdded DiffAdd
highlight default link AcpRemoved DiffDelete
highlight default link AcpHunk PreProc
highlight default link AcpFile Comment
highlight default link AcpCompleted String
highlight default link AcpRunning WarningMsg
highlight default link AcpFailed ErrorMsg
highlight default link AcpWaiting Comment
