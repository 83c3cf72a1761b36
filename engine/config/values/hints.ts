/**
 * Common mistakes that other tools accept, and their corrections: one table for the keys of the configuration, patterns, templates and
 * expressions. The rooms that read them look it up before they guess.
 */

import { mailbox } from './mailbox.ts'

/** The first row that is found in a text names the mistake. In both texts `$1` to `$3` are groups and `$&` is the whole match. */
export type HintRow = readonly [find: RegExp, message: string, hint: string]

export interface Hint {
  readonly message: string
  readonly hint: string
  /** The place in UTF-16 units of the text. */
  readonly offset: number
}

export function findHint(rows: readonly HintRow[], text: string): Hint | undefined {
  for (const [find, message, hint] of rows) {
    const match = find.exec(text)
    if (match === null) continue
    const fill = (words: string) =>
      words.replace(/\$([&1-3])/g, (_sign, group) => match[group === '&' ? 0 : Number(group)] ?? '')
    return { message: fill(message), hint: fill(hint), offset: match.index }
  }
  return undefined
}

const methodHint = 'Remove it: endpoints take POST.'

/** Keys of other tools by the kind of the map that holds them. A row is for one or several names. */
export const keyHints: Readonly<Record<string, Readonly<Record<string, string>>>> = {
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
      'Signatures are configured under `endpoints: { NAME: { verify: { provider: … } } }`; `runner:` and `model:` choose who answers.',
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
    'equals eq is': 'Write the string itself, or a list of strings: `x-event: [push, tag]`.',
    'in any oneOf anyOf any_of': 'Write a list of strings: `x-event: [push, tag]`.',
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
      'Remove it: keep secrets in `.env` next to this file, and refer to them with `${NAME}`.',
    'logging logLevel': 'Write `gateway: { log: { level: … } }`.',
    'cron schedule schedules':
      'Remove it: hooks have no clock of their own; let cron post to /hooks/NAME with curl.',
    'slack telegram discord whatsapp mattermost signal imessage msteams http terminal':
      'Write it under `channels:`.',
    [mailbox]: 'Write it under `hooks:`.',
    'database db store storage': 'Write `gateway: { dataDir: … }`; the store is a file in it.',
    'timezone tz': 'Remove it: times are in UTC, and the helper `date` takes a zone.',
  },
}

/** Corrections of a lone text or list where a map of keys is expected, by the name of its key. */
export const shorthandHints: ReadonlyMap<string, string> = new Map([
  ['match', 'Write `match: { path: NAME }`.'],
  ['transform', 'Write `transform: { module: FILE.ts }`.'],
  ['dedupe', 'Write `dedupe: { key: "…" }`, a JSONata expression.'],
  ['coalesce', 'Write `coalesce: { key: "…", window: 10s }`.'],
  ['verify', 'Write `verify: { provider: NAME, secret: "${NAME}" }`.'],
  ['auth', 'Write `auth: { token: "${REVEILLE_GATEWAY_TOKEN}" }`.'],
])

const anythingBut = 'Write `anything-but:` and a value, or a list of values.'
const anyOf = 'Write a list of which any may be equal: `field: [a, b]`.'
const equal = 'Write the value itself: `field: opened`; the number 10 and the string "10" are not equal.'
const containing =
  'In a text, write `pattern: "…"`, which is found anywhere in it; in a list any element may match, so write the value itself.'
const pattern =
  'Write `pattern: "…"`, a regular expression without slashes; `(?i)` at its start ignores case.'

/**
 * Operators of Mongo, EventBridge, JSON Schema and n8n in a pattern. `isSure`: no payload is likely to have a key of that
 * name, so that it is an error and not a warning.
 */
const operators: readonly (readonly [names: string, isSure: boolean, hint: string])[] = [
  ['gt > greaterthan exclusiveminimum', true, 'Write `numeric: [">", 10]`.'],
  ['gte ge >= => greaterthanorequal', true, 'Write `numeric: [">=", 10]`.'],
  ['lt < lessthan exclusivemaximum', true, 'Write `numeric: ["<", 10]`.'],
  ['lte le <= =< lessthanorequal', true, 'Write `numeric: ["<=", 10]`.'],
  ['min minimum above over', false, 'Write `numeric: [">=", 10]`.'],
  ['max maximum below under', false, 'Write `numeric: ["<=", 10]`.'],
  ['between range', false, 'Write `numeric: [">=", 1, "<=", 10]`.'],
  ['== = === eq', true, equal],
  ['equals equal equalto const', false, equal],
  ['!= !== <> ne neq nin notin notequals notequal doesnotequal', true, anythingBut],
  ['not isnot', false, anythingBut],
  ['anythingbut', true, 'It is written `anything-but`.'],
  ['in anyof oneof enum or', false, anyOf],
  ['contains includes include icontains substring', false, containing],
  ['startswith beginswith', true, 'Write `prefix: "…"`.'],
  ['endswith', true, 'Write `suffix: "…"`.'],
  ['regex regexp rlike', true, pattern],
  ['matches match wildcard glob like ilike equalsignorecase ignorecase', false, pattern],
  ['isnull', true, 'Write `field: null` for a null, or `exists: false` for a field that is absent.'],
  ['exist isset isdefined present', false, 'Write `exists: true`, or `exists: false`.'],
  ['and allof', false, 'Write them into one map: several operators must all hold.'],
]

export const operatorHints = new Map(
  operators.flatMap(([names, isSure, hint]) =>
    names.split(' ').map((name) => [name, { isSure, hint }] as const),
  ),
)

/** Texts that other tools interpret in a pattern. */
export const patternHints: readonly HintRow[] = [
  [
    /\{\{.*\}\}|\{%.*%\}/s,
    'is compared letter for letter: patterns hold no placeholders',
    'Compare two fields in `match.when`.',
  ],
  [
    /^\$\{\w+\}$/,
    'is compared letter for letter: references are not resolved in a mapping',
    'Write the value itself.',
  ],
  [
    /^\/.*[[\](){}^$.*+?\\|].*\/[a-z]*$|^\/.+\/[gimsuy]+$/s,
    'is compared letter for letter, slashes included',
    'Write `{ pattern: "…" }` for a regular expression, without the slashes; `(?i)` at its start ignores case.',
  ],
  [
    /^(>=?|<=?|=>|=<)\s*-?\d/,
    'is compared letter for letter',
    'Write `{ numeric: [">", 10] }` to compare numbers.',
  ],
  [/^(!=?|<>|not )\s*\S/, 'is compared letter for letter', 'Write `{ anything-but: … }`.'],
  [/^={2,3}\s*\S/, 'is compared letter for letter', 'Write the value itself.'],
  [
    /^[\w.-]+(\s*\|\|?\s*[\w.-]+)+$/,
    'is compared letter for letter',
    'Write a list of which any may be equal: `[a, b]`.',
  ],
  [/^[^*]+\*$/, 'is compared letter for letter, `*` included', 'Write `{ prefix: "…" }`.'],
  [/^\*[^*]+$/, 'is compared letter for letter, `*` included', 'Write `{ suffix: "…" }`.'],
  [/^\*[^*]+\*$/, 'is compared letter for letter, `*` included', 'Write `{ pattern: "…" }`.'],
  [/^\*$/, 'is compared letter for letter', 'For any value, write `{ exists: true }`.'],
]

/** A regular expression between slashes, which would be part of it. */
export const slashHints: readonly HintRow[] = [
  [
    /^\/\^.*\/[a-z]*$|^\/.*\$\/[a-z]*$|^\/.+\/[gimsuy]+$/s,
    'looks for the slashes as well',
    'Leave them out; `(?i)` at its start ignores case.',
  ],
]

/** `{a}`, `#{a}`, `${{ a }}`, `<%= a %>`, `[[a]]`, and `%a%` in a text for a model. A dollar sign alone is money. */
export const braceHints: readonly HintRow[] = [
  [
    /(?:(?<![{$%\\\w])#?\{(?=[A-Za-z_][\w.]*\}(?!\}))|\$\{\{|<%=|\[\[(?=[A-Za-z_][\w.]*\]\])|(?<![\w%])%(?=[a-z_][\w.]*%(?!\w)))\s*([A-Za-z_][\w.]*)\s*(?:\}\}?|%>|\]\]|%)/,
    'holds $&, which stays as it is written',
    'For a value of the payload write {{$1}}.',
  ],
]

/** Placeholders of Jinja, Liquid, Mustache, n8n and JavaScript: the text between the braces, without surrounding blanks. */
export function placeholderHints(helpers: readonly string[]): readonly HintRow[] {
  const value = String.raw`("[^"]*"|'[^']*'|[^\s"']+)`
  return placeholders.map(([find, message, hint]) => [
    new RegExp(find.replaceAll('VALUE', value).replace('HELPERS', helpers.join('|')), 's'),
    message,
    hint.replace('HELPERS', helpers.join(', ')),
  ])
}

const placeholders: readonly (readonly [find: string, message: string, hint: string])[] = [
  [
    '^[^"\']*[\u201c\u201d\u2018\u2019\u201e]',
    'curly quotes are no quotes',
    'Write " or \', as in {{default title "none"}}.',
  ],
  [
    String.raw`^#(if|unless)\s+VALUE\s*={1,3}\s*VALUE$`,
    'a comparison is a helper',
    'Write {{#$1 (eq $2 $3)}}.',
  ],
  [
    String.raw`^#(if|unless)\s+VALUE\s*(?:!==?|<>)\s*VALUE$`,
    'a comparison is a helper',
    'Write {{#$1 (not (eq $2 $3))}}.',
  ],
  [
    String.raw`^#(?:ifEquals|ifEq|if_eq|ifEqual|is|eq|equals|compare)\s+VALUE\s+VALUE$`,
    'a comparison is a helper',
    'Write {{#if (eq $1 $2)}}…{{/if}}.',
  ],
  [
    String.raw`^#(if|unless)\s+VALUE\s*(?:&&|and)\s*VALUE$`,
    '`and` is a helper',
    'Write {{#$1 (and $2 $3)}}.',
  ],
  [String.raw`^#(if|unless)\s+VALUE\s*(?:\|\||or)\s*VALUE$`, '`or` is a helper', 'Write {{#$1 (or $2 $3)}}.'],
  [String.raw`^#if\s+(?:!\s*|not\s+)VALUE$`, 'negation is a block', 'Write {{#unless $1}}…{{/unless}}.'],
  [String.raw`^#?(?:else_?if|elsif|elif)\s+(.+)$`, '`else if` is two words', 'Write {{else if $1}}.'],
  [
    '^#?(?:end|endif|fi|endfor|endeach|end_if)$',
    'a block is closed by its own name',
    'Write {{/if}} or {{/each}}.',
  ],
  [
    String.raw`^#(?:each|for|foreach)\s+(\S+)\s+as\s+(\w+)$`,
    'the name of an element is written between bars',
    'Write {{#each $1 as |$2|}}…{{/each}}.',
  ],
  [
    String.raw`^#?(?:each|for|foreach)\s+(\w+)\s+in\s+(\S+)$`,
    'the name of an element is written between bars',
    'Write {{#each $2 as |$1|}}…{{/each}}.',
  ],
  [String.raw`^#(?:for|foreach|range)\s+(\S+)$`, 'a loop is called `each`', 'Write {{#each $1}}…{{/each}}.'],
  [
    String.raw`^VALUE\s*(?:\|\||\?\?)\s*VALUE$`,
    'a value in place of another is a helper',
    'Write {{default $1 $2}}.',
  ],
  [String.raw`^VALUE\s*\?.*:.*$`, 'a choice is a block', 'Write {{#if $1}}one{{else}}other{{/if}}.'],
  [
    String.raw`^(\S+)\s*\|\s*(?:upcase|upper|uppercase)$|^(?:upcase|upper|uppercase|toUpperCase)\s+(\S+)$|^(.+)\.toUpperCase\(\)$`,
    'letters are changed by an expression',
    'Write vars: { upper: $uppercase($1$2$3) } and {{vars.upper}}.',
  ],
  [
    String.raw`^(\S+)\s*\|\s*(?:downcase|lower|lowercase)$|^(?:downcase|lower|lowercase|toLowerCase)\s+(\S+)$|^(.+)\.toLowerCase\(\)$`,
    'letters are changed by an expression',
    'Write vars: { lower: $lowercase($1$2$3) } and {{vars.lower}}.',
  ],
  [
    String.raw`^(\S+)\s*\|\s*(HELPERS)\b:?\s*(.*)$`,
    'a helper is written before its value',
    'Write {{$2 $1 $3}}.',
  ],
  [
    String.raw`^[^"']*\|`,
    'there are no filters behind `|`',
    'A helper is written before its value, as in {{truncate title 80}}; there are HELPERS.',
  ],
  [String.raw`^\.([A-Za-z_][\w.]*)$`, 'a field is named without a dot before it', 'Write {{$1}}.'],
  [
    String.raw`^\$\w+\(.*\)$`,
    'a function of JSONata is called in an expression',
    'Write vars: { value: $& } and {{vars.value}}.',
  ],
  [
    String.raw`^\$(?:json|body|payload|event|request|input|data)\.(?:body\.)?([\w.]+)$`,
    'a field of the payload is its name alone',
    'Write {{$1}}.',
  ],
  [String.raw`^\$\.([\w.]+)$`, 'a field of the payload is its name alone', 'Write {{$1}}.'],
  [
    String.raw`^\$(\w+)$`,
    'a field of the payload is its name alone',
    'Write {{$1}}, or {{[$&]}} for a key that begins so.',
  ],
  [
    String.raw`^[\w.]+\.\w+\(.*\)$`,
    'a template calls no methods',
    'Write an expression in vars, such as vars: { count: $count(commits) }, and {{vars.count}}.',
  ],
]

/** A possible operand: a path, a variable or a text, with an optional call. */
const operand = String.raw`[$\w.\ue000]+(?:\([^()]*\)|\[[^\[\]]*\])*`
const either = (pattern: string): RegExp => new RegExp(pattern.replaceAll('OPERAND', operand))

/**
 * Expressions of other languages. They are searched in a source in which the characters of each text, name in backquotes,
 * comment and regular expression are replaced.
 */
export const expressionHints: readonly HintRow[] = [
  [
    /^\s*(?:if|unless|for|set|assign|include)\b[\s\S]*%\}/,
    'there are no blocks in `{% … %}`, which holds one expression',
    'Write {{#if draft}}Draft{{else}}Ready{{/if}}, or {{#each commits}}{{this.message}}{{/each}}.',
  ],
  [
    /%\}[\s\S]*\{%/,
    'a text that begins and ends as an expression is one expression',
    'Write placeholders: {{title}} by {{sender.login}}, or join texts: {% title & " by " & sender.login %}.',
  ],
  [/^\s*=\s*(?=\{\{)/, 'the `=` before `{{` is of n8n', "Write the names alone: `ref = 'x'`."],
  [
    /\$\{[^{}]*\}/,
    '`${…}` is neither a reference nor a placeholder in an expression',
    'References are resolved in reveille.yaml outside of mappings. Write the value, or hand it to a transform by `transform.with`. A field is its name alone.',
  ],
  [
    /\{\{|\}\}/,
    'an expression has no {{ }}: names are written in it as they are',
    "Write the names alone: `ref = 'x'`.",
  ],
  [/!==|<>/, 'inequality is `!=`', "Write `action != 'opened'`."],
  [
    /\s==\s*(?:null|undefined|None)\b/,
    'equality is one `=`, and a field that is absent equals nothing',
    'Write `$not($exists(field))`.',
  ],
  [/(?<![<>!:=])===?/, 'equality is one `=`', "Write `action = 'opened'`."],
  [/\$json\.(?:body\.)?(?=[A-Za-z_])/, 'a field of the payload is its name alone', 'Write `action`.'],
  [/&&/, 'the word for `&&` is `and`', 'Write `a and b`.'],
  [/\|\|/, 'the word for `||` is `or`', 'Write `a or b`.'],
  [/\b(AND|OR|IN)\b/, '`and`, `or` and `in` are written in small letters', 'Write `a and b`.'],
  [
    /\s(?:is\s+not|IS\s+NOT)\s+(?:null|NULL|None|undefined)\b/,
    'whether a field is there is asked with `$exists`',
    'Write `$exists(field)`.',
  ],
  [
    /\s(?:is|IS)\s+(?:null|NULL|None|undefined)\b/,
    'whether a field is there is asked with `$exists`',
    'Write `$not($exists(field))`.',
  ],
  [/\s(?:not|NOT)\s+in\s/, '`not in` is `$not(… in …)`', "Write `$not(action in ['a', 'b'])`."],
  [
    either(String.raw`!\s*(?=\$?\w|\()|(?<!\$)\b(?:not|NOT)(?:\s+OPERAND|\s*\()`),
    'negation is a function, `$not(…)`',
    'Write `$not(draft)`.',
  ],
  [
    /=~|\s(?:matches|MATCHES|REGEXP|rlike|RLIKE|regex)\s/,
    'a regular expression is asked with `$contains`',
    'Write `$contains(ref, /^v/)`.',
  ],
  [
    /\s(?:like|LIKE|ILIKE|ilike)\s/,
    'a comparison by `like` is asked with `$contains` and a regular expression',
    'Write `$contains(title, /^fix/)`.',
  ],
  [
    /\s(?:contains|includes|CONTAINS)\s/,
    'whether a text holds another is asked with `$contains`',
    "Write `$contains(title, 'x')`, or `'x' in labels` for a list.",
  ],
  [
    /\s(?:starts_?[wW]ith|begins_?[wW]ith)\s/,
    'how a string begins is asked with a regular expression',
    'Write `$contains(ref, /^refs/)`, or a pattern in match.body: `ref: { prefix: refs }`.',
  ],
  [
    /\sends_?[wW]ith\s/,
    'how a string ends is asked with a regular expression',
    'Write `$contains(ref, /main$/)`, or a pattern in match.body: `ref: { suffix: main }`.',
  ],
  [/\?\./, '`?.` is a plain `.`: a path that leads nowhere gives nothing', 'Write `a.b`.'],
  [/\[\?\(/, 'a filter is written in the brackets as it is', "Write `items[name = 'x']`."],
  [/\$\.\./, 'a field at any depth is `**.name`', 'Write `**.name`.'],
  [/@\./, 'the current element is `$`', 'Write `$.name`, or the name alone.'],
  [
    /\(?\s*\$?\b[A-Za-z_]\w*\s*\)?\s*=>/,
    'a function is written `function($x) { … }`',
    'Write `$map(items, function($x) { $x.name })`, or the path alone: `items.name`.',
  ],
  [/\bin\s*\([^()]*,[^()]*\)/, 'a list is written in brackets', "Write `action in ['a', 'b']`."],
  [/\btypeof\s/, 'the type of a value is `$type(…)`', 'Write `$type(field)`.'],
  [
    /\bnew\s+Date\(\s*\)/,
    'the time of the request is `$now()`',
    'Write `$now()`, or `$millis()` for a number.',
  ],
  [
    /\bif\b|\bthen\b|\belse\b/,
    'a choice is written `condition ? one : other`',
    "Write `urgent ? 'now' : 'later'`.",
  ],
  [
    /(?<=^|\n)\s*\/\/.*|\s\/\/\s.*|\s#\s.*/,
    'a comment is written between `/*` and `*/`',
    'Write `title /* so */`, or a comment of YAML on a line of its own.',
  ],
  [/^\s*\.(?=[A-Za-z_])/, 'a path begins with a name', 'Write `pull_request.title`.'],
  [
    /(?<!\|)\|(?!\|)\s*[A-Za-z]\w*/,
    'there are no filters behind `|`',
    'A function takes the value in brackets: `$uppercase(title)`; one condition or the other is `a or b`.',
  ],
  [/(?<![$\w.])[A-Za-z_]\w*(?=\s*:=)/, 'a variable begins with `$`', 'Write `($total := 1; $total + 1)`.'],
  [
    /^(?!\s*\()[\s\S]*;[\s\S]*$/,
    'several expressions are written in round brackets',
    'Write `($total := 1; $total + 1)`.',
  ],
  [
    /^\s*(?:(?!(?:and|or|in|not)\b)[\w-]+ *){2,}[.!?]?\s*$/,
    'a text is written in quotes',
    "Write `'some text'`.",
  ],
]

/** Functions and methods of other languages, with what to write instead. */
const functions: Readonly<Record<string, string>> = {
  'includes has indexOf': "`'bug' in labels` for a list, or `$contains(title, 'x')` for a string",
  'startsWith startswith starts_with hasPrefix': '`$contains(ref, /^refs/)`',
  'endsWith endswith ends_with hasSuffix': '`$contains(ref, /main$/)`',
  test: '`$contains(ref, /^v/)`',
  'toLowerCase lower downcase': '`$lowercase(title)`',
  'toUpperCase upper upcase': '`$uppercase(title)`',
  strip: '`$trim(title)`',
  'toString stringify': '`$string(size)`',
  'len size': '`$count(labels)` for a list, or `$length(title)` for a string',
  concat: '`$append(one, other)`',
  slice: '`$substring(title, 0, 10)`',
}

export const functionHints: ReadonlyMap<string, string> = new Map(
  Object.entries(functions).flatMap(([names, text]) => names.split(' ').map((name) => [name, text] as const)),
)

/** Words of other languages that JSONata takes for names of fields. */
export const wordHints: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  undefined: 'Whether a field is there is asked with `$exists(field)` and `$not($exists(field))`.',
  None: 'Write `null`; whether a field is there is asked with `$exists(field)`.',
  nil: 'Write `null`; whether a field is there is asked with `$exists(field)`.',
  NULL: 'Write `null`; whether a field is there is asked with `$exists(field)`.',
  True: 'Write `true`.',
  TRUE: 'Write `true`.',
  False: 'Write `false`.',
  FALSE: 'Write `false`.',
})
