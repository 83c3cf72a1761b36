/**
 * `reveille completion`: prints a script by which a shell completes commands, options and their values. The script asks
 * `reveille __complete WORDS`, which answers from the commands as they are registered.
 */

import type { Command } from 'commander'
import type { Io } from './io.ts'
import { print } from './print.ts'

/** Each asks with the words after the program's name, the last one as far as it is typed; where nothing fits, files are offered. */
const scripts = {
  bash: `# bash completion of reveille. To have it in every shell: reveille completion bash >> ~/.bashrc
_reveille() {
  local IFS=$'\\n'
  COMPREPLY=($("\${COMP_WORDS[0]}" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1))
}
complete -o default -F _reveille reveille
`,
  zsh: `#compdef reveille
# zsh completion of reveille. To have it in every shell: reveille completion zsh > "\${fpath[1]}/_reveille"
_reveille() {
  local -a offered
  offered=("\${(@f)$("\${words[1]}" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  offered=("\${(@)offered//:/\\\\:}")
  offered=("\${(@)offered//$'\\t'/:}")
  if [ -n "$offered" ]; then _describe reveille offered; else _files; fi
}
if [ "$funcstack[1]" = "_reveille" ]; then _reveille "$@"; else compdef _reveille reveille; fi
`,
  fish: `# fish completion of reveille. To have it in every shell: reveille completion fish > ~/.config/fish/completions/reveille.fish
function __reveille
  set -l words (commandline -opc)
  set -l offered ($words[1] __complete $words[2..-1] (commandline -ct) 2>/dev/null)
  if test -n "$offered"; printf '%s\\n' $offered; else; __fish_complete_path (commandline -ct); end
end
complete -c reveille -f -a '(__reveille)'
`,
} as const

export async function completion(shell: keyof typeof scripts, io: Io): Promise<number> {
  const script = scripts[shell]
  return print(io, { shell, script }, () => script)
}

/** The completions of the last word, a line each, with its description behind a tab. None where a file may be meant. */
export function candidates(program: Command, words: readonly string[]): string {
  const typed = words.at(-1) ?? ''
  let command = program
  for (const word of words.slice(0, -1))
    command = command.commands.find((each) => each.name() === word) ?? command
  const before = words.at(-2)
  const help = command.createHelp()
  const options = help.visibleOptions(command)
  const option = options.find(({ long, short }) => before !== undefined && [long, short].includes(before))
  const isValue = option !== undefined && (option.required || option.optional)
  const offered: readonly (readonly [string, string])[] = isValue
    ? (option.argChoices ?? []).map((choice) => [choice, ''])
    : [
        ...help.visibleCommands(command).map((each) => [each.name(), each.description()] as const),
        ...command.registeredArguments.flatMap(({ argChoices = [] }) =>
          argChoices.map((choice) => [choice, ''] as const),
        ),
        ...options.map(({ long, description }) => [long ?? '', description] as const),
      ]
  return offered
    .filter(([name]) => name.startsWith(typed) && (typed.startsWith('-') || !name.startsWith('-')))
    .map(([name, about]) => `${name}${about === '' ? '' : `\t${firstPart(about)}`}\n`)
    .join('')
}

/** The part of a description before its first aside, which has room beside a name. */
function firstPart(description: string): string {
  return (description.split(/[;:(]|, /)[0] ?? '').trim()
}
