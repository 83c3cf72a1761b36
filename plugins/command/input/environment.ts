/** Selects the environment variables that a program sees, by an allow-list, so that no token is passed on by accident. */

import {
  badConfiguration,
  compileTemplate,
  type Placeholder,
  type Template,
  type Values,
} from './placeholder.ts'

/**
 * The variables for paths, the user and the display of text. Credentials are not among them, nor are proxies, since their
 * addresses may hold a password. Programs on Windows do not start without those of the last two rows.
 */
export const allowedVariables = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR', 'TZ', 'LANG', 'LANGUAGE', 'LC_*'],
  ...['TERM', 'COLORTERM', 'NO_COLOR'],
  ...['XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME', 'XDG_CACHE_HOME', 'XDG_RUNTIME_DIR'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS'],
  ...['SystemRoot', 'SystemDrive', 'windir', 'ComSpec', 'PATHEXT', 'TEMP', 'TMP', 'USERNAME', 'USERPROFILE'],
  ...['HOMEDRIVE', 'HOMEPATH', 'APPDATA', 'LOCALAPPDATA', 'ProgramData', 'ProgramFiles', 'ProgramFiles(x86)'],
] as const

/** Our own variables, which are never passed on, whatever is configured. Two of them are set for each turn. */
const ownVariables = /^reveille_/i
/** Minimum length of a value that is redacted, since redacting shorter ones would make errors unreadable. */
const minSecretLength = 6
/** The placeholders that are too long for a variable. */
const tooLong: readonly Placeholder[] = ['prompt', 'systemPrompt']

export interface EnvironmentOptions {
  readonly given: Readonly<Record<string, string>>
  readonly allow: readonly string[]
  /** The gateway's own environment. */
  readonly environment: NodeJS.ProcessEnv
  readonly isWindows: boolean
}

/** @throws PluginError `bad-config` */
export function compileEnvironment(options: EnvironmentOptions) {
  const { environment, isWindows } = options
  const harmless = pick(environment, allowedVariables, isWindows)
  const allowed = pick(environment, options.allow, isWindows)
  const templates = Object.entries(options.given).map(
    ([name, text]) => [name, templateOf(name, text)] as const,
  )

  return {
    /** Returns the variables of one turn. `cwd` becomes `PWD`, which some programs trust more than the system. */
    render(values: Values, cwd: string): Record<string, string> {
      const variables = templates.flatMap(([name, template]) => {
        const text = template.render(values)
        return text === undefined ? [] : [[name, text] as const]
      })
      return {
        ...harmless,
        ...allowed,
        ...(isWindows ? {} : { PWD: cwd }),
        ...Object.fromEntries(variables),
        REVEILLE_RUN: values.runId ?? '',
        REVEILLE_SESSION: values.sessionKey ?? '',
      }
    },
    /**
     * The values that no error may show: those that were configured, and those that were allowed in addition. Values of fewer
     * than six characters are flags and numbers.
     */
    secrets: [...Object.values(options.given), ...Object.values(allowed)].filter(
      (value) => value.length >= minSecretLength,
    ),
  }
}

function templateOf(name: string, text: string): Template {
  const template = compileTemplate(text, `env.${name}`)
  const found = template.names.find((each) => tooLong.includes(each))
  if (found === undefined) return template
  throw badConfiguration(
    `env.${name} holds {${found}}, which is too long for a variable; use input: stdin or json`,
  )
}

function pick(
  environment: NodeJS.ProcessEnv,
  names: readonly string[],
  isWindows: boolean,
): Record<string, string> {
  const fold = (name: string) => (isWindows ? name.toUpperCase() : name)
  const exact = new Set(names.filter((name) => !name.endsWith('*')).map(fold))
  const prefixes = names.filter((name) => name.endsWith('*')).map((name) => fold(name.slice(0, -1)))
  const picked = Object.entries(environment).filter(([name, value]) => {
    if (value === undefined || ownVariables.test(name)) return false
    return exact.has(fold(name)) || prefixes.some((prefix) => fold(name).startsWith(prefix))
  })
  return Object.fromEntries(picked) as Record<string, string>
}
