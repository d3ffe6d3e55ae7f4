" Vim syntax file for Flow, written by package lang from the scanner's tables.
" Put it into ~/.vim/syntax/flow.vim, and into ~/.vim/ftdetect/flow.vim the line
"     autocmd BufRead,BufNewFile *.flow setfiletype flow
if exists('b:current_syntax')
  finish
endif

syntax keyword flowStatement param import type fn stage state on next chan emit assert
syntax keyword flowControl for parfor in iterate until times if else to as with
syntax keyword flowOperatorWord and or not
syntax keyword flowConstant true false inf nan
syntax keyword flowType f64 f32 i64 bool str time dur
syntax keyword flowContextual sparse frame grid of by end
syntax match flowNumber "\<\d[0-9_]*\%(\.\d[0-9_]*\)\=\%([eE][-+]\=\d[0-9_]*\)\=\%(ns\|us\|ms\|s\|m\|h\|d\)\=\>"
syntax match flowCall "\<\h\w*\ze("
syntax match flowOperator "\.\.=\||>\|<-\|->\|=>\|\.\.\|==\|!=\|<=\|>=\|\/\/\|+\|-\|\*\|\/\|\^\|%\|@\|<\|>\|="
syntax region flowString start=+"+ skip=+\\.+ end=+"+ oneline contains=flowEscape,flowHole
syntax match flowEscape "\\." contained
syntax match flowHole "{[^{}"]*}" contained
syntax match flowComment "#.*$" contains=@Spell

highlight default link flowStatement Statement
highlight default link flowControl Repeat
highlight default link flowOperatorWord Operator
highlight default link flowOperator Operator
highlight default link flowConstant Constant
highlight default link flowType Type
highlight default link flowContextual Special
highlight default link flowNumber Number
highlight default link flowCall Function
highlight default link flowString String
highlight default link flowEscape SpecialChar
highlight default link flowHole SpecialChar
highlight default link flowComment Comment

let b:current_syntax = 'flow'
