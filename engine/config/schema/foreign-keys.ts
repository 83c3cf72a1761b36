/** Lists the keys that OpenClaw's `hooks` block has and ours lacks, each with its effect here and the alternative. */

import type { Finding } from '../file/diagnostic.ts'
import { keyHints, shorthandHints } from '../values/hints.ts'
import { own } from '../values/is-record.ts'
import { foreignMailboxKeys } from '../values/mailbox.ts'
import type { Path } from '../values/path.ts'

type Holder = Readonly<Record<string, unknown>>

/** The alternative to a key without effect, which is a warning. */
type Hint = string
/** The alternative to a key that asks for a behaviour that does not exist here, which is an error. */
interface Refusal {
  readonly refused: string
}

/** Returns undefined if the value asks for the default behaviour. `beside` has the keys of the map that holds the key. */
type Judge = (value: unknown, beside: Holder) => Hint | Refusal | undefined

/** Keyed by the path from the file's root, and for a mapping without the path of its list. */
export const foreignKeys: Readonly<Record<string, Hint | Refusal | Judge>> = {
  'hooks.internal': 'Those hooks run inside OpenClaw, and no webhook ever reaches them: remove it.',
  'hooks.sessionRetention':
    '`agents.sessions.idleExpiry` says how long a session without a chosen key lives: remove it here.',
  ...foreignMailboxKeys,
  'mapping.agentId': (id) =>
    typeof id === 'string' && id.trim().toLowerCase() === 'main'
      ? undefined
      : 'There is one agent here, `main`, which answers; `runner` and `model` of a mapping say who that is: remove it.',
  'mapping.sessionMode': (mode, { sessionKey, transform }) => {
    if (mode === 'isolated' && sessionKey === undefined) return undefined
    if (mode === 'isolated') {
      const refused =
        'Runs of one `sessionKey` share a conversation: leave `sessionKey` out for a fresh one each time, or `sessionMode`.'
      return { refused }
    }
    if (mode !== 'persistent') return { refused: 'It is `isolated` or `persistent` there: remove it.' }
    return sessionKey !== undefined || transform !== undefined
      ? undefined
      : 'Without `sessionKey` each run has a conversation of its own: write one, or remove it.'
  },
  'mapping.accountId': {
    refused: 'A channel has one account here: remove it, and name with `channel` the one that replies go to.',
  },
}

/** Returns the finding about a key of OpenClaw, `none` if there is nothing to report, or undefined for any other key. */
export function foreignKey(path: Path, beside: Holder): Finding | 'none' | undefined {
  const name = kindOf(path)
  const rule = own(foreignKeys, name)
  if (rule === undefined) return undefined
  const found = typeof rule === 'function' ? rule(beside[String(path.at(-1))], beside) : rule
  if (found === undefined) return 'none'
  const at = { path, at: 'key', code: 'FOREIGN_KEY' } as const
  return typeof found === 'string'
    ? { ...at, severity: 'warning', problem: 'is a key of OpenClaw that has no effect here', hint: found }
    : {
        ...at,
        problem: 'is a key of OpenClaw that asks for what this gateway does not do',
        hint: found.refused,
      }
}

/** The keys that a mapping may have and that are dropped from its entry. */
export const foreignInMapping: ReadonlySet<string> = new Set(
  Object.keys(foreignKeys).flatMap((name) => (name.startsWith('mapping.') ? [name.slice(8)] : [])),
)

/** The same by kind and name in lower case. */
const hintsByKey = new Map(
  Object.entries(keyHints).flatMap(([kind, names]) =>
    Object.entries(names).flatMap(([each, hint]) =>
      each.split(' ').map((name) => [`${kind} ${name.toLowerCase()}`, hint] as const),
    ),
  ),
)

/** Returns what to write instead of a name of another tool, or undefined for a name of no known tool. */
export function foreignName(path: Path): string | undefined {
  return hintsByKey.get(`${kindOf(path.slice(0, -1))} ${String(path.at(-1)).toLowerCase()}`)
}

/** Returns the hint for a string or a list in place of a map of keys. */
export function shorthand(path: Path): string | undefined {
  return shorthandHints.get(String(path.at(-1)))
}

/** `hooks.mappings[3].match` and `mappings[3].match` both have the kind `mapping.match`. */
function kindOf(path: Path): string {
  const [first, second, ...rest] = path[0] === 'hooks' && path.length > 1 ? path.slice(1) : path
  if (first === 'mappings' && typeof second === 'number') {
    const steps =
      rest[0] === 'match' && rest[1] === 'headers' && rest.length === 3 ? [...rest.slice(0, 2), '*'] : rest
    return ['mapping', ...steps].join('.')
  }
  if (first === 'tests' && typeof second === 'number') return ['test', ...rest].join('.')
  if (first === 'endpoints' && rest.length === 0 && second !== undefined) return 'endpoint'
  return path.join('.')
}
