/**
 * `reveille completion`: prints a script with which a shell completes the names of commands, options and their values. All of it is read from the
 * commands as they are registered, so that no list has to be kept.
 */

import type { Command, Option } from 'commander'
import type { CommandOptions, Io } from './io.ts'

type Shell = 'bash' | 'zsh' | 'fish'

/** A command by its words: `store backup`; the program itself has none. */
interface Known {
  readonly path: string
  readonly commands: readonly { readonly name: string; readonly description: string }[]
  readonly options: readonly KnownOption[]
  /** What its arguments may be, where that is one of a few words. */
  readonly choices: readonly string[]
  /** Whether an argument of it may be a file. */
  readonly takesFiles: boolean
}

interface KnownOption {
  /** `--json`, and `-V` where there is a short one. */
  readonly names: readonly string[]
  readonly description: string
  readonly takesValue: boolean
  readonly choices: readonly string[]
}

/** Returns the command for this program. */
export function completionOf(program: Command) {
  return async (shell: Shell, { json }: CommandOptions, io: Io): Promise<number> => {
    const script = scripts[shell](knownOf(program), program.name())
    io.out(json ? `${JSON.stringify({ shell, script })}\n` : script)
    return 0
  }
}

function knownOf(command: Command, path = ''): Known[] {
  const help = command.createHelp()
  const commands = help.visibleCommands(command).map((each) => ({
    name: each.name(),
    description: firstPart(each.description()),
  }))
  const own: Known = {
    path,
    commands,
    options: help.visibleOptions(command).map(optionOf),
    choices: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    takesFiles: command.registeredArguments.some((argument) => fileNames.test(argument.name())),
  }
  const below = command.commands.flatMap((each) => knownOf(each as Command, `${path} ${each.name()}`.trim()))
  return [own, ...below]
}

/** Names of arguments that stand for files and folders. */
const fileNames = /file|dir|folder|payload|target|path/i

function optionOf({ short, long, description, required, optional, argChoices }: Option): KnownOption {
  return {
    names: [long, short].filter((name) => name !== undefined),
    description: firstPart(description),
    takesValue: required || optional,
    choices: argChoices ?? [],
  }
}

/** The part of a description before its first aside, which has room beside a name. */
function firstPart(description: string): string {
  return (description.split(/[;:(]|, /)[0] ?? '').trim()
}

/** Single quotes are the only ones within which a shell reads nothing. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

const scripts: Readonly<Record<Shell, (known: readonly Known[], name: string) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}

/** The lines of a `case` that follows the words before the cursor to the command that they name. */
function walk(known: readonly Known[]): string {
  const paths = known.filter(({ path }) => path !== '').map(({ path }) => `"${path}"`)
  return paths.join('|')
}

/** Options of a command whose value is one of a few words, as `case` lines for bash and zsh: `"requests --outcome"`. */
function choiceCases(known: readonly Known[], line: (words: string) => string): string {
  return known
    .flatMap(({ path, options }) =>
      options.flatMap(({ names, choices }) =>
        choices.length === 0
          ? []
          : [`    ${names.map((name) => `"${path} ${name}"`).join('|')}) ${line(choices.join(' '))} ;;`],
      ),
    )
    .join('\n')
}

/** Options whose value no list has: a file may be meant, and nothing else is offered. */
function valueCases(known: readonly Known[]): string {
  const patterns = known.flatMap(({ path, options }) =>
    options.flatMap(({ names, choices, takesValue }) =>
      takesValue && choices.length === 0 ? names.map((name) => `"${path} ${name}"`) : [],
    ),
  )
  return patterns.length === 0 ? '"-"' : patterns.join('|')
}

function bashScript(known: readonly Known[], name: string): string {
  const words = known.map(({ path, commands, options, choices, takesFiles }) => {
    const all = [...commands.map((each) => each.name), ...choices, ...options.flatMap(({ names }) => names)]
    return `    "${path}") words="${all.join(' ')}"${takesFiles ? '; files=1' : ''} ;;`
  })
  return `# bash completion of ${name}. To have it in every shell: ${name} completion bash >> ~/.bashrc
_${name}() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" path="" words="" files="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${path:+$path }\${COMP_WORDS[i]}" in
      ${walk(known)}) path="\${path:+$path }\${COMP_WORDS[i]}" ;;
    esac
  done
  COMPREPLY=()
  case "$path $prev" in
${choiceCases(known, (choices) => `COMPREPLY=($(compgen -W "${choices}" -- "$cur")); return`)}
    ${valueCases(known)}) COMPREPLY=($(compgen -f -- "$cur")); return ;;
  esac
  case "$path" in
${words.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  if [ -n "$files" ] && [ "\${#COMPREPLY[@]}" -eq 0 ]; then COMPREPLY=($(compgen -f -- "$cur")); fi
}
complete -o filenames -o bashdefault -F _${name} ${name}
`
}

function zshScript(known: readonly Known[], name: string): string {
  const words = known.map(({ path, commands, options, choices, takesFiles }) => {
    const entries = [
      ...commands.map((each) => [each.name, each.description]),
      ...choices.map((each) => [each, '']),
      ...options.flatMap(({ names, description }) => names.map((each) => [each, description])),
    ].map(([word = '', description = '']) => quoted(`${word.replaceAll(':', '\\:')}:${description}`))
    return `    "${path}") offered=(${entries.join(' ')})${takesFiles ? '; files=1' : ''} ;;`
  })
  return `#compdef ${name}
# zsh completion of ${name}. To have it in every shell: ${name} completion zsh > "\${fpath[1]}/_${name}"
_${name}() {
  local path_="" files="" prev="\${words[CURRENT-1]}" word
  local -a offered typed
  typed=("\${words[@]:1:$((CURRENT-2))}")
  for word in "\${typed[@]}"; do
    case "\${path_:+$path_ }$word" in
      ${walk(known)}) path_="\${path_:+$path_ }$word" ;;
    esac
  done
  case "$path_ $prev" in
${choiceCases(known, (choices) => `compadd -- ${choices}; return`)}
    ${valueCases(known)}) _files; return ;;
  esac
  case "$path_" in
${words.join('\n')}
  esac
  _describe ${quoted(name)} offered
  if [ -n "$files" ]; then _files; fi
}
if [ "$funcstack[1]" = "_${name}" ]; then _${name} "$@"; else compdef _${name} ${name}; fi
`
}

function fishScript(known: readonly Known[], name: string): string {
  const lines = known.flatMap(({ path, commands, options, choices, takesFiles }) => {
    const at = `-n ${quoted(`__${name}_at ${quoted(path)}`)}`
    return [
      ...commands.map(
        (each) => `complete -c ${name} ${at} -f -a ${quoted(each.name)} -d ${quoted(each.description)}`,
      ),
      ...options.map(({ names, description, takesValue, choices }) => {
        const flags = names.map((each) =>
          each.startsWith('--') ? `-l ${each.slice(2)}` : `-s ${each.slice(1)}`,
        )
        const value = choices.length > 0 ? ` -x -a ${quoted(choices.join(' '))}` : takesValue ? ' -r' : ''
        return `complete -c ${name} ${at} ${flags.join(' ')}${value} -d ${quoted(description)}`
      }),
      ...(choices.length > 0 ? [`complete -c ${name} ${at} -f -a ${quoted(choices.join(' '))}`] : []),
      ...(takesFiles ? [`complete -c ${name} ${at} -F`] : []),
    ]
  })
  return `# fish completion of ${name}. To have it in every shell: ${name} completion fish > ~/.config/fish/completions/${name}.fish
function __${name}_at
  set -l path ''
  for word in (commandline -opc)[2..-1]
    set -l next (string trim -- "$path $word")
    switch $next
      case ${known
        .filter(({ path }) => path !== '')
        .map(({ path }) => quoted(path))
        .join(' ')}
        set path $next
    end
  end
  test "$path" = "$argv[1]"
end
complete -c ${name} -f
${lines.join('\n')}
`
}
