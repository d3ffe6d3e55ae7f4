package main

// This file defines `flowrun completion SHELL` and `flowrun man`.

import (
	"fmt"

	"github.com/urfave/cli/v2"
)

// completionFlag is the last word of a line to complete. The command-line library answers it with a
// word a line.
const completionFlag = "--generate-bash-completion"

// completions are the scripts, by shell. Each asks the command for commands and flags, so no list
// can be stale, and completes everything else as a file name.
var completions = map[string]string{
	"bash": `# bash completion for flowrun: source <(flowrun completion bash)
_flowrun() {
	local current="${COMP_WORDS[COMP_CWORD]}" words=("${COMP_WORDS[@]:0:COMP_CWORD}")
	if [[ "$current" == -* ]]; then
		words+=("$current")
	fi
	COMPREPLY=($(compgen -W "$("${words[@]}" ` + completionFlag + ` 2>/dev/null)" -- "$current"))
}
complete -o bashdefault -o default -F _flowrun flowrun
`,
	"zsh": `#compdef flowrun
# zsh completion for flowrun: flowrun completion zsh > "${fpath[1]}/_flowrun"
_flowrun() {
	local -a found line
	line=("${words[@]:0:$((CURRENT - 1))}")
	[[ "${words[CURRENT]}" == -* ]] && line+=("${words[CURRENT]}")
	found=("${(@f)$("${line[@]}" ` + completionFlag + ` 2>/dev/null)}")
	[[ -n "${found[1]}" ]] && compadd -- "${found[@]}"
	_files
}
compdef _flowrun flowrun
`,
	"fish": `# fish completion for flowrun: flowrun completion fish > ~/.config/fish/completions/flowrun.fish
function __flowrun
	set -l line (commandline -opc)
	set -l current (commandline -ct)
	string match -q -- '-*' $current; and set line $line $current
	command $line ` + completionFlag + ` 2>/dev/null
end
complete -c flowrun -a '(__flowrun)'
`,
}

func (s *session) completionCommand() *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print the completion script of a shell: bash, zsh or fish",
		ArgsUsage: "SHELL",
		Action: func(c *cli.Context) error {
			script, ok := completions[c.Args().First()]
			if !ok || c.NArg() != 1 {
				e := usagef("flowrun completion takes one shell: bash, zsh or fish")
				e.help = "source <(flowrun completion bash)"
				return e
			}
			fmt.Fprint(s.out, script)
			return nil
		},
	}
}

// manCommand is `flowrun man`. app makes the command with all its subcommands, which the page
// describes.
func (s *session) manCommand(app func() *cli.App) *cli.Command {
	return &cli.Command{
		Name:  "man",
		Usage: "print the manual page of the command: flowrun man | man -l -",
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return usagef("flowrun man takes no %s", c.Args().First())
			}
			page, err := app().ToManWithSection(1)
			if err != nil {
				return err
			}
			fmt.Fprint(s.out, page)
			return nil
		},
	}
}
