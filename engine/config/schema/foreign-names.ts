/**
 * Maps names from other tools to the equivalents here. They are looked up for an unknown key before the nearest known
 * name is searched, because `if` is nearer to `id` than to `match.when`.
 */

import type { Path } from '../path.ts'

const methodHint = 'Remove it: endpoints take POST.'

/** The hints for one or several names, by the kind of the map that holds the key. */
const hints: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  mapping: {
    'if filter condition conditions where only onlyIf only_if expression':
      'Write `match: { when: "…" }`, a JSONata expression of which only `true` matches.',
    'unless except ignore exclude': 'Write `match: { when: "$not(…)" }`, a JSONata expression.',
    'on event events trigger triggers':
      'The kind of event is a header of most senders: `match: { headers: { x-github-event: push } }`; of others it is in the body: `match: { body: { type: … } }`.',
    'method methods': methodHint,
    'url uri route endpoint hook webhook address':
      'Write `match: { path: NAME }`; the address is then /hooks/NAME.',
    'query queryString': 'Write `match: { when: "query.NAME = \'…\'" }`.',
    'rules rule': 'Write `match:`; everything under it must hold.',
    'prompt template content instruction instructions input question':
      'Write `message:`, which is what the agent is asked.',
    'type kind do': 'Write `action: wake` or `action: agent`.',
    'title label': 'Write `name:`, which says who asks, or `id:`.',
    'each loop foreach for_each for items iterate':
      'Write `forEach: "…"`, a JSONata expression that gives a list.',
    'session conversation thread': 'Write `sessionKey: "hook:NAME:{{id}}"`.',
    timeout: 'Write `timeoutSeconds:`, a number.',
    'secret signature verify token auth hmac rate rateLimit rate_limit budget concurrency maxBodyBytes':
      'It belongs to the endpoint, not to one mapping: write it under `endpoints: { NAME: { … } }`, beside `mappings:`.',
    provider:
      'Who signs stands under `endpoints: { NAME: { verify: { provider: … } } }`; who answers is `runner:` and `model:`.',
    'script code handler function run module plugin':
      'Write `transform: { module: FILE.ts }`, a file of the transforms folder.',
    'retry retries attempts': 'Remove it: `agents.defaults.retry` says it for all runs.',
    'delay debounce throttle batch buffer':
      'Write `coalesce: { key: "…", window: 10s }`, which makes one run of a burst.',
    'schedule cron every interval':
      'Hooks have no clock of their own: let cron post to /hooks/NAME with curl.',
    'dedup deduplicate idempotency idempotencyKey unique':
      'Write `dedupe: { key: "…" }`, a JSONata expression.',
    'llm ai engine': 'Write `runner:` for who answers, and `model:` for its model.',
    'system systemPrompt':
      'Write `agents: { defaults: { systemPrompt: … } }` in reveille.yaml: it holds for all runs.',
    'disabled disable': 'Write `enabled: false`.',
    'target targets recipient recipients destination notify sink output':
      'Write `channel:` and `to:`, or `deliverTo:` for several.',
    'response reply respond return':
      'What is answered is fixed; a transform can refuse a request, or add a reply.',
    'params variables set let env with context':
      'Write `vars: { NAME: "…" }`, where each value is a JSONata expression.',
    'priority order weight': 'Remove it: the first mapping that matches wins, from top to bottom.',
    'stop final last break':
      'Remove it: the first mapping that matches is the last, unless it says `continue: true`.',
  },
  'mapping.match': {
    'if filter condition conditions where expression expr jsonata cel':
      'Write `when: "…"`, a JSONata expression of which only `true` matches.',
    'on event events type trigger':
      'The kind of event is a header of most senders: `headers: { x-github-event: push }`; of others it is in the body: `body: { type: … }`.',
    'method methods': methodHint,
    'url uri route endpoint hook name': 'Write `path: NAME`; the address is then /hooks/NAME.',
    'query queryString': 'Write `when: "query.NAME = \'…\'"`.',
    'payload json data': 'Write `body:`, and below it keys of the payload.',
    'and all allOf all_of': 'Remove it: everything under `match` must hold.',
    'or any anyOf any_of oneOf': 'Write one mapping for each case, a list of values, or `when: "… or …"`.',
    'not none noneOf': 'Write `anything-but` for one field, or `when: "$not(…)"`.',
  },
  'mapping.match.headers.*': {
    'prefix startsWith starts_with': 'Write `pattern: "^…"`.',
    'suffix endsWith ends_with': 'Write `pattern: "…$"`.',
    'contains includes': 'Write `pattern: "…"`, which is found anywhere in it.',
    'regex regexp match matches': 'Write `pattern: "…"`.',
    'equals eq is': 'Write the text itself, or a list of texts: `x-event: [push, tag]`.',
    'in any oneOf anyOf any_of': 'Write a list of texts: `x-event: [push, tag]`.',
    'not ne neq anything-but anything_but': 'Write `when: "headers.`x-event` != \'…\'"`.',
  },
  endpoint: {
    'signature signing hmac provider': 'Write `verify: { provider: NAME, secret: "${NAME}" }`.',
    'path url':
      'Remove it: the key of the entry is the name of the endpoint, as in `endpoints: { github: … }`.',
    'method methods': methodHint,
    timeout: 'Write `timeoutSeconds:`, a number.',
    'rateLimit rate_limit throttle limit': 'Write `rate:`, such as `600/1m`.',
    'allow allowlist whitelist ips ipAllowlist':
      'Remove it: addresses are the business of the proxy in front; here `verify` or `token` says who may post.',
  },
  test: {
    'payload body headers endpoint input given':
      'Write `request: { endpoint: …, headers: { … }, body: { … } }`.',
    'output then expected assert should want result': 'Write `expect: { … }`.',
    'title it description': 'Write `name:`.',
  },
  'test.request': {
    'path url': 'Write `endpoint: NAME`.',
    'payload json data': 'Write `body:`.',
    method: methodHint,
  },
  'test.expect': {
    'prompt_contains messageContains contains': 'Write `message: { contains: "…" }`.',
    'matched match id': 'Write `mapping: ID`.',
    code: 'Write `status:` for the HTTP status.',
  },
  gateway: {
    'bind address listen interface': 'Write `host:`.',
    'url baseUrl publicUrl':
      'Remove it: a gateway does not need to know its address; `verify.publicUrl` says it for senders that sign it.',
    'data dataFolder dataDirectory dir': 'Write `dataDir:`.',
    'db database databaseUrl postgres':
      'Write `dataDir:`; the store is a file in it. Or `store: "postgres://…"`.',
    'logLevel log_level logging': 'Write `log: { level: … }`.',
    'tls ssl https cert': 'Remove it: TLS is the business of the proxy in front.',
    'password apiKey secret': 'Write `auth: { token: "${REVEILLE_GATEWAY_TOKEN}" }`.',
  },
  hooks: {
    'secret apiKey password auth':
      'Write `token:` for all hooks, or `endpoints: { NAME: { verify: … } }` for one that signs.',
    'url basePath prefix': 'Write `path:`, such as `/hooks`.',
    'routes rules handlers': 'Write `mappings:`, a list.',
    templates: 'Write `presets:` for what Reveille brings, or `mappings:`.',
  },
  'agents.defaults': {
    timeout: 'Write `timeoutSeconds:`, a number.',
    'retries attempts': 'Write `retry:`.',
    'system prompt instructions': 'Write `systemPrompt:`.',
    'provider llm': 'Write `runner: ai`, and `model: PROVIDER/MODEL`.',
    'temperature topP top_p maxTokens max_tokens': 'Remove it: how a model samples is not set here.',
  },
  '': {
    'server http listen': 'Write `gateway:`, with `host:` and `port:`.',
    'webhooks webhook routes rules': 'Write `hooks:`, with `mappings:` below it.',
    'model models llm ai provider providers':
      'Write it under `agents:`: `agents: { defaults: { model: … }, providers: { … } }`.',
    'secrets env environment variables':
      'Remove it: secrets stand in `.env` beside this file, and `${NAME}` refers to them.',
    'logging logLevel': 'Write `gateway: { log: { level: … } }`.',
    'cron schedule schedules':
      'Remove it: hooks have no clock of their own; let cron post to /hooks/NAME with curl.',
    'slack telegram discord whatsapp mattermost signal imessage msteams terminal':
      'Write it under `channels:`.',
    gmail: 'Write it under `hooks:`.',
    'database db store storage': 'Write `gateway: { dataDir: … }`; the store is a file in it.',
    'timezone tz': 'Remove it: times are in UTC, and the helper `date` takes a zone.',
  },
}

/** The same by kind and name in lower case. */
const known = new Map(
  Object.entries(hints).flatMap(([kind, names]) =>
    Object.entries(names).flatMap(([each, hint]) =>
      each.split(' ').map((name) => [`${kind} ${name.toLowerCase()}`, hint] as const),
    ),
  ),
)

/** Returns what to write instead of a name of another tool, or undefined for a name of no known tool. */
export function foreignName(path: Path): string | undefined {
  return known.get(`${kindOf(path.slice(0, -1))} ${String(path.at(-1)).toLowerCase()}`)
}

/** What to write instead of a lone text or list where a map of keys is expected, by the name of its key. */
const shorthands: ReadonlyMap<string, string> = new Map([
  ['match', 'Write `match: { path: NAME }`.'],
  ['transform', 'Write `transform: { module: FILE.ts }`.'],
  ['dedupe', 'Write `dedupe: { key: "…" }`, a JSONata expression.'],
  ['coalesce', 'Write `coalesce: { key: "…", window: 10s }`.'],
  ['verify', 'Write `verify: { provider: NAME, secret: "${NAME}" }`.'],
  ['auth', 'Write `auth: { token: "${REVEILLE_GATEWAY_TOKEN}" }`.'],
])

/** Returns the hint for a text or a list in place of a map of keys. */
export function shorthand(path: Path): string | undefined {
  return shorthands.get(String(path.at(-1)))
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
