/** Owns what the program sees of the gateway's environment: an allow-list, so that no token travels by accident. */

import {
  badConfiguration,
  compileTemplate,
  type Placeholder,
  type Template,
  type Values,
} from './placeholder.ts'

/**
 * Where things are, who runs, how text looks. No credentials, and no proxies either, since their addresses may hold
 * a password. The last two rows are what programs on Windows do not start without.
 */
export const allowedVariables = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR', 'TZ', 'LANG', 'LANGUAGE', 'LC_*'],
  ...['TERM', 'COLORTERM', 'NO_COLOR'],
  ...['XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME', 'XDG_CACHE_HOME', 'XDG_RUNTIME_DIR'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS'],
  ...['SystemRoot', 'SystemDrive', 'windir', 'ComSpec', 'PATHEXT', 'TEMP', 'TMP', 'USERNAME', 'USERPROFILE'],
  ...['HOMEDRIVE', 'HOMEPATH', 'APPDATA', 'LOCALAPPDATA', 'ProgramData', 'ProgramFiles', 'ProgramFiles(x86)'],
] as const

/** Never passed on, whatever is configured; two of them are set for each turn. */
const ours = /^reveille_/i
/** Taking shorter values out of an error would leave no sentence whole. Characters. */
const shortestSecret = 6
const unfit: readonly Placeholder[] = ['prompt', 'systemPrompt']

export interface EnvironmentOptions {
  readonly given: Readonly<Record<string, string>>
  readonly allow: readonly string[]
  /** The gateway's own. */
  readonly environment: NodeJS.ProcessEnv
  readonly isWindows: boolean
}

export interface Environment {
  /** The variables of one turn. `cwd` becomes `PWD`, which some programs trust more than the system. */
  render(values: Values, cwd: string): Record<string, string>
  /**
   * Values that must show up in no error: what was configured, and what was allowed beyond the harmless. Those of fewer
   * than six characters are flags and numbers.
   */
  readonly secrets: readonly string[]
}

/** @throws PluginError `bad-config` */
export function compileEnvironment(options: EnvironmentOptions): Environment {
  const { environment, isWindows } = options
  const harmless = pick(environment, allowedVariables, isWindows)
  const allowed = pick(environment, options.allow, isWindows)
  const templates = Object.entries(options.given).map(
    ([name, text]) => [name, templateOf(name, text)] as const,
  )

  return {
    render(values, cwd) {
      const given = templates.flatMap(([name, template]) => {
        const text = template.render(values)
        return text === undefined ? [] : [[name, text] as const]
      })
      return {
        ...harmless,
        ...allowed,
        ...(isWindows ? {} : { PWD: cwd }),
        ...Object.fromEntries(given),
        REVEILLE_RUN: values.runId ?? '',
        REVEILLE_SESSION: values.sessionKey ?? '',
      }
    },
    secrets: [...Object.values(options.given), ...Object.values(allowed)].filter(
      (value) => value.length >= shortestSecret,
    ),
  }
}

function templateOf(name: string, text: string): Template {
  const template = compileTemplate(text, `env.${name}`)
  const found = template.names.find((each) => unfit.includes(each))
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
    if (value === undefined || ours.test(name)) return false
    return exact.has(fold(name)) || prefixes.some((prefix) => fold(name).startsWith(prefix))
  })
  return Object.fromEntries(picked) as Record<string, string>
}
