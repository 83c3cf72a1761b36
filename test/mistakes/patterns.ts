/** Lists mistakes of authors in names, patterns and values, with the exact text that check, lint or test prints for them. */

import { operatorNames } from '../../engine/compile/match/operators.ts'
import type { Mistake } from './fixture.ts'

/** Every message about a foreign operator lists the operators. */
const operators = [...operatorNames].join(', ')

export const mistakesOfPatterns: readonly Mistake[] = [
  {
    name: 'a bound as in Mongo',
    mapping: `match: { path: a, body: { n: { gt: 10 } } }
message: x`,
    text: `
      error: \`match.body.n.gt\` of mapping "a": is not an operator; the operators are ${operators} [FOREIGN_OPERATOR]
      hint: Write \`numeric: [">", 10]\`.`,
  },
  {
    name: 'a bound as in Mongo, with a dollar sign',
    mapping: `match: { path: a, body: { n: { $gte: 10, $lt: 20 } } }
message: x`,
    text: `
      error: \`match.body.n.$gte\` of mapping "a": is not an operator; the operators are ${operators} [FOREIGN_OPERATOR]
      hint: Write \`numeric: [">=", 10]\`.
      error: \`match.body.n.$lt\` of mapping "a": is not an operator; the operators are ${operators} [FOREIGN_OPERATOR]
      hint: Write \`numeric: ["<", 20]\`.`,
  },
  {
    name: 'a bound as a sign',
    mapping: `match: { path: a, body: { n: { '<=': 3 } } }
message: x`,
    text: `
      error: \`match.body.n["<="]\` of mapping "a": is not an operator; the operators are ${operators} [FOREIGN_OPERATOR]
      hint: Write \`numeric: ["<=", 3]\`.`,
  },
  {
    name: 'a regular expression as in Mongo',
    mapping: `match: { path: a, body: { s: { regex: '^a' } } }
message: x`,
    text: `
      error: \`match.body.s.regex\` of mapping "a": is not an operator; the operators are ${operators} [FOREIGN_OPERATOR]
      hint: Write \`pattern: "…"\`, a regular expression without slashes; \`(?i)\` at its start ignores case.`,
  },
  {
    name: 'text that contains another, as in n8n',
    mapping: `match: { path: a, body: { t: { contains: abc } } }
message: x`,
    text: `
      warning: \`match.body.t.contains\` of mapping "a": is taken for a key of the payload, because it is not an operator [FOREIGN_OPERATOR]
      hint: In a text, write \`pattern: "…"\`, which is found anywhere in it; in a list any element may match, so write the value itself. For a key of that name, write it in \`match.when\`.`,
  },
  {
    name: 'a negation by `not`',
    mapping: `match: { path: a, body: { u: { not: bot } } }
message: x`,
    text: `
      warning: \`match.body.u.not\` of mapping "a": is taken for a key of the payload, because it is not an operator [FOREIGN_OPERATOR]
      hint: Write \`anything-but:\` and a value, or a list of values. For a key of that name, write it in \`match.when\`.`,
  },
  {
    name: 'a list of values under `in`',
    mapping: `match: { path: a, body: { v: { in: [a, b] } } }
message: x`,
    text: `
      warning: \`match.body.v.in\` of mapping "a": is taken for a key of the payload, because it is not an operator [FOREIGN_OPERATOR]
      hint: Write a list of which any may be equal: \`field: [a, b]\`. For a key of that name, write it in \`match.when\`.`,
  },
  {
    name: '`anything_but` with an underscore',
    mapping: `match: { path: a, body: { w: { anything_but: x } } }
message: x`,
    text: `
      error: \`match.body.w.anything_but\` of mapping "a": is not an operator; the operators are ${operators} [FOREIGN_OPERATOR]
      hint: It is written \`anything-but\`.`,
  },
  {
    name: '`startsWith` as in JavaScript',
    mapping: `match: { path: a, body: { x: { startsWith: a } } }
message: x`,
    text: `
      error: \`match.body.x.startsWith\` of mapping "a": is not an operator; the operators are ${operators} [FOREIGN_OPERATOR]
      hint: Write \`prefix: "…"\`.`,
  },
  {
    name: '`ends_with` as in Ruby',
    mapping: `match: { path: a, body: { x: { ends_with: a } } }
message: x`,
    text: `
      error: \`match.body.x.ends_with\` of mapping "a": is not an operator; the operators are ${operators} [FOREIGN_OPERATOR]
      hint: Write \`suffix: "…"\`.`,
  },
  {
    name: 'a range as in n8n',
    mapping: `match: { path: a, body: { n: { between: [1, 5] } } }
message: x`,
    text: `
      warning: \`match.body.n.between\` of mapping "a": is taken for a key of the payload, because it is not an operator [FOREIGN_OPERATOR]
      hint: Write \`numeric: [">=", 1, "<=", 10]\`. For a key of that name, write it in \`match.when\`.`,
  },
  {
    name: '`eq` for equality',
    mapping: `match: { path: a, body: { action: { eq: opened } } }
message: x`,
    text: `
      error: \`match.body.action.eq\` of mapping "a": is not an operator; the operators are ${operators} [FOREIGN_OPERATOR]
      hint: Write the value itself: \`field: opened\`; the number 10 and the string "10" are not equal.`,
  },
  {
    name: '`ne` for inequality',
    mapping: `match: { path: a, body: { action: { $ne: closed } } }
message: x`,
    text: `
      error: \`match.body.action.$ne\` of mapping "a": is not an operator; the operators are ${operators} [FOREIGN_OPERATOR]
      hint: Write \`anything-but:\` and a value, or a list of values.`,
  },
  {
    name: '`isNull` for a null',
    mapping: `match: { path: a, body: { a: { isNull: true } } }
message: x`,
    text: `
      error: \`match.body.a.isNull\` of mapping "a": is not an operator; the operators are ${operators} [FOREIGN_OPERATOR]
      hint: Write \`field: null\` for a null, or \`exists: false\` for a field that is absent.`,
  },
  {
    name: '`present` for a field that is there',
    mapping: `match: { path: a, body: { a: { present: true } } }
message: x`,
    text: `
      warning: \`match.body.a.present\` of mapping "a": is taken for a key of the payload, because it is not an operator [FOREIGN_OPERATOR]
      hint: Write \`exists: true\`, or \`exists: false\`. For a key of that name, write it in \`match.when\`.`,
  },
  {
    name: 'an operator of another tool beside a known one',
    mapping: `match: { path: a, body: { s: { prefix: a, contains: b } } }
message: x`,
    text: `
      error: \`match.body.s.contains\` of mapping "a": is not an operator; the operators are ${operators} [FOREIGN_OPERATOR]
      hint: In a text, write \`pattern: "…"\`, which is found anywhere in it; in a list any element may match, so write the value itself.`,
  },
  {
    name: 'cases joined by `$or`',
    mapping: `match: { path: a, body: { $or: [{ a: 1 }, { b: 2 }] } }
message: x`,
    text: `
      error: \`match.body.$or\` of mapping "a": is not an operator; the clauses of a pattern must all hold [FOREIGN_OPERATOR]
      hint: Write one mapping for each case, or a condition in \`match.when\`: \`"a = 1 or b = 2"\`.`,
  },
  {
    name: 'cases joined by `or`',
    mapping: `match: { path: a, body: { or: [{ a: 1 }, { b: 2 }] } }
message: x`,
    text: `
      warning: \`match.body.or\` of mapping "a": is taken for a key of the payload, because it is not an operator [FOREIGN_OPERATOR]
      hint: Write one mapping for each case, or a condition in \`match.when\`: \`"a = 1 or b = 2"\`.`,
  },
  {
    name: 'a glob',
    mapping: `match: { path: a, body: { ref: 'release/*' } }
message: x`,
    text: `
      warning: \`match.body.ref\` of mapping "a": is compared letter for letter, \`*\` included [LITERAL_TEXT]
      hint: Write \`{ prefix: "…" }\`.`,
  },
  {
    name: 'a star for any value',
    mapping: `match: { path: a, body: { ref: '*' } }
message: x`,
    text: `
      warning: \`match.body.ref\` of mapping "a": is compared letter for letter [LITERAL_TEXT]
      hint: For any value, write \`{ exists: true }\`.`,
  },
  {
    name: 'a comparison within a text',
    mapping: `match: { path: a, body: { n: '> 10' } }
message: x`,
    text: `
      warning: \`match.body.n\` of mapping "a": is compared letter for letter [LITERAL_TEXT]
      hint: Write \`{ numeric: [">", 10] }\` to compare numbers.`,
  },
  {
    name: 'a negation within a text',
    mapping: `match: { path: a, body: { user: '!bot' } }
message: x`,
    text: `
      warning: \`match.body.user\` of mapping "a": is compared letter for letter [LITERAL_TEXT]
      hint: Write \`{ anything-but: … }\`.`,
  },
  {
    name: 'alternatives within a text',
    mapping: `match: { path: a, body: { action: opened|reopened } }
message: x`,
    text: `
      warning: \`match.body.action\` of mapping "a": is compared letter for letter [LITERAL_TEXT]
      hint: Write a list of which any may be equal: \`[a, b]\`.`,
  },
  {
    name: 'a regular expression between slashes as a value',
    mapping: `match: { path: a, body: { ref: /^refs/i } }
message: x`,
    text: `
      warning: \`match.body.ref\` of mapping "a": is compared letter for letter, slashes included [LITERAL_TEXT]
      hint: Write \`{ pattern: "…" }\` for a regular expression, without the slashes; \`(?i)\` at its start ignores case.`,
  },
  {
    name: 'a pattern between slashes',
    mapping: `match: { path: a, body: { ref: { pattern: /^refs/i } } }
message: x`,
    text: `
      warning: \`match.body.ref.pattern\` of mapping "a": looks for the slashes as well [LITERAL_TEXT]
      hint: Leave them out; \`(?i)\` at its start ignores case.`,
  },
  {
    name: 'a placeholder in a pattern',
    mapping: `match: { path: a, body: { sender: '{{owner}}' } }
message: x`,
    text: `
      warning: \`match.body.sender\` of mapping "a": is compared letter for letter: patterns hold no placeholders [LITERAL_TEXT]
      hint: Compare two fields in \`match.when\`.`,
  },
  {
    name: 'a JSONPath as a key',
    mapping: `match: { path: a, body: { $.action: opened } }
message: x`,
    text: `
      warning: \`match.body["$.action"]\` of mapping "a": is taken for one key of the payload, whole as it is written [LITERAL_KEY]
      hint: Write \`action: …\`.`,
  },
  {
    name: 'a JSON Pointer as a key',
    mapping: `match: { path: a, body: { /action: opened } }
message: x`,
    text: `
      warning: \`match.body["/action"]\` of mapping "a": is taken for one key of the payload, whole as it is written [LITERAL_KEY]
      hint: Write \`action: …\`.`,
  },
  {
    name: 'an index in a key',
    mapping: `match: { path: a, body: { 'labels[0].name': bug } }
message: x`,
    text: `
      warning: \`match.body["labels[0].name"]\` of mapping "a": is taken for one key of the payload, whole as it is written [LITERAL_KEY]
      hint: Nest it: \`labels: { name: … }\`; where the payload holds a list, any element may match.`,
  },
  {
    name: 'a header with underscores',
    mapping: `match: { path: a, headers: { HTTP_X_GITHUB_EVENT: push } }
message: x`,
    text: `
      warning: \`match.headers.http_x_github_event\` of mapping "a": has an underscore, which names of headers do not have [LITERAL_KEY]
      hint: Write \`x-github-event\`.`,
  },
  {
    name: 'alternatives in a header',
    mapping: `match: { path: a, headers: { x-github-event: push|ping } }
message: x`,
    text: `
      warning: \`match.headers.x-github-event\` of mapping "a": is compared letter for letter [LITERAL_TEXT]
      hint: Write a list of which any may be equal: \`[a, b]\`.`,
  },
  {
    name: 'an operator of bodies in a header',
    mapping: `match: { path: a, headers: { x-a: { prefix: a } } }
message: x`,
    text: `
      error: \`mappings[0].match.headers.x-a.prefix\` is not a known key [UNKNOWN_KEY]
      hint: Write \`pattern: "^…"\`.`,
  },
  {
    name: 'a path with braces for a parameter',
    mapping: `match: { path: 'repos/{repo}' }
message: x`,
    text: `
      warning: \`mappings[0].match.path\` is no parameter as it is written, and stands for itself [ODD_PATH]
      hint: Write \`:repo\` for any one segment.`,
  },
  {
    name: 'a method before the path',
    mapping: `match: { path: POST /github }
message: x`,
    text: `
      warning: \`mappings[0].match.path\` names a method, which is no part of an address [ODD_PATH]
      hint: Write \`github\`: endpoints take POST.`,
  },
  {
    name: 'a regular expression as a path',
    mapping: `match: { path: ^github }
message: x`,
    text: `
      warning: \`mappings[0].match.path\` looks like a regular expression, and stands for itself [ODD_PATH]
      hint: Write the name, or \`:name\` for any one segment.`,
  },
  {
    name: 'the whole address as a path',
    mapping: `match: { path: 'https://example.com/hooks/github' }
message: x`,
    text: `
      error: \`mappings[0].match.path\` has a segment that no request can have [INVALID_PATH]
      hint: Write the name alone, as it stands behind \`hooks.path\` in the address: \`github\`.`,
  },
  {
    name: 'a list of paths',
    mapping: `match: { path: [github, gitlab] }
message: x`,
    text: `
      error: \`mappings[0].match.path\` must be a string that is not blank [INVALID_VALUE]
      hint: Write one string here, not a list.`,
  },
  {
    name: 'an endpoint for a match',
    mapping: `match: github
message: x`,
    text: `
      error: \`mappings[0].match\` must be a map of keys [INVALID_VALUE]
      hint: Write \`match: { path: NAME }\`.`,
  },
  {
    name: '`if` for a condition',
    mapping: `match: { path: a }
if: action = 'opened'
message: x`,
    text: `
      error: \`mappings[0].if\` is not a known key [UNKNOWN_KEY]
      hint: Write \`match: { when: "…" }\`, a JSONata expression of which only \`true\` matches.`,
  },
  {
    name: '`filter` for a condition',
    mapping: `match: { path: a }
filter: x
message: x`,
    text: `
      error: \`mappings[0].filter\` is not a known key [UNKNOWN_KEY]
      hint: Write \`match: { when: "…" }\`, a JSONata expression of which only \`true\` matches.`,
  },
  {
    name: '`prompt` for a message',
    mapping: `match: { path: a }
prompt: hi`,
    text: `
      error: \`mappings[0].prompt\` is not a known key [UNKNOWN_KEY]
      hint: Write \`message:\`, which is what the agent is asked.`,
  },
  {
    name: '`on` for an event',
    mapping: `match: { path: a }
on: push
message: x`,
    text: `
      error: \`mappings[0].on\` is not a known key [UNKNOWN_KEY]
      hint: The kind of event is a header of most senders: \`match: { headers: { x-github-event: push } }\`; of others it is in the body: \`match: { body: { type: … } }\`.`,
  },
  {
    name: '`method`',
    mapping: `match: { path: a }
method: POST
message: x`,
    text: `
      error: \`mappings[0].method\` is not a known key [UNKNOWN_KEY]
      hint: Remove it: endpoints take POST.`,
  },
  {
    name: '`unless`',
    mapping: `match: { path: a }
unless: draft
message: x`,
    text: `
      error: \`mappings[0].unless\` is not a known key [UNKNOWN_KEY]
      hint: Write \`match: { when: "$not(…)" }\`, a JSONata expression.`,
  },
  {
    name: '`timeout`',
    mapping: `match: { path: a }
timeout: 60
message: x`,
    text: `
      error: \`mappings[0].timeout\` is not a known key [UNKNOWN_KEY]
      hint: Write \`timeoutSeconds:\`, a number.`,
  },
  {
    name: '`kind` for an action',
    mapping: `match: { path: a }
kind: wake
message: x`,
    text: `
      error: \`mappings[0].kind\` is not a known key [UNKNOWN_KEY]
      hint: Write \`action: wake\` or \`action: agent\`.`,
  },
  {
    name: '`secret` in a mapping',
    mapping: `match: { path: a }
secret: x
message: x`,
    text: `
      error: \`mappings[0].secret\` is not a known key [UNKNOWN_KEY]
      hint: It belongs to the endpoint, not to one mapping: write it under \`endpoints: { NAME: { … } }\`, beside \`mappings:\`.`,
  },
  {
    name: '`debounce`',
    mapping: `match: { path: a }
debounce: 5s
message: x`,
    text: `
      error: \`mappings[0].debounce\` is not a known key [UNKNOWN_KEY]
      hint: Write \`coalesce: { key: "…", window: 10s }\`, which makes one run of a burst.`,
  },
  {
    name: '`schedule`',
    mapping: `match: { path: a }
schedule: '* * * * *'
message: x`,
    text: `
      error: \`mappings[0].schedule\` is not a known key [UNKNOWN_KEY]
      hint: Hooks have no clock of their own: let cron post to /hooks/NAME with curl.`,
  },
  {
    name: '`payload` in a match',
    mapping: `match: { path: a, payload: { action: opened } }
message: x`,
    text: `
      error: \`mappings[0].match.payload\` is not a known key [UNKNOWN_KEY]
      hint: Write \`body:\`, and below it keys of the payload.`,
  },
  {
    name: '`event` in a match',
    mapping: `match: { path: a, event: push }
message: x`,
    text: `
      error: \`mappings[0].match.event\` is not a known key [UNKNOWN_KEY]
      hint: The kind of event is a header of most senders: \`headers: { x-github-event: push }\`; of others it is in the body: \`body: { type: … }\`.`,
  },
  {
    name: '`query` in a match',
    mapping: `match: { path: a, query: { a: b } }
message: x`,
    text: `
      error: \`mappings[0].match.query\` is not a known key [UNKNOWN_KEY]
      hint: Write \`when: "query.NAME = '…'"\`.`,
  },
  {
    name: 'a module as a text',
    mapping: `match: { path: a }
transform: review.ts
message: x`,
    text: `
      error: \`mappings[0].transform\` must be a map of keys [INVALID_VALUE]
      hint: Write \`transform: { module: FILE.ts }\`.`,
  },
  {
    name: 'a key for dedupe as a text',
    mapping: `match: { path: a }
dedupe: id
message: x`,
    text: `
      error: \`mappings[0].dedupe\` must be a map of keys [INVALID_VALUE]
      hint: Write \`dedupe: { key: "…" }\`, a JSONata expression.`,
  },
  {
    name: 'an expected value under another name',
    file: `mappings: [{ id: a, match: { path: a }, message: x }]
tests:
  - name: t
    request: { endpoint: a, payload: {} }
    then: { action: agent }
`,
    text: `
      error: \`tests[0].expect\` is missing [MISSING_KEY]
      hint: Write \`expect:\` here; it has no default.
      error: \`tests[0].request.payload\` is not a known key [UNKNOWN_KEY]
      hint: Write \`body:\`.
      error: \`tests[0].then\` is not a known key [UNKNOWN_KEY]
      hint: Write \`expect: { … }\`.`,
  },
  {
    name: 'a misspelt endpoint, whose signature nothing would verify',
    mapping: 'match: { path: github }\nmessage: x',
    config: `hooks: { endpoints: { githb: { verify: { provider: github, secret: 6c1f0a52d98b4e7f93a1 } } } }
`,
    text: `
      warning: \`hooks.endpoints.githb\` has no effect: no mapping has that path [UNUSED_FIELD]
      hint: Did you mean \`github\`?`,
  },
  {
    name: 'an endpoint that no mapping has',
    mapping: 'match: { path: github/:event }\nmessage: x',
    config: `hooks: { endpoints: { github/push: { maxBodyBytes: 10 }, agent: { maxBodyBytes: 10 }, orders: { maxBodyBytes: 10 } } }
`,
    text: `
      warning: \`hooks.endpoints.orders\` has no effect: no mapping has that path [UNUSED_FIELD]
      hint: Remove it, or give a mapping that path.`,
  },
  {
    name: 'a value of `vars` by its name alone',
    command: 'lint',
    mapping: `match: { path: 'a/:repo' }
vars: { who: user.name, labels: $join(labels.name) }
message: '{{who}} {{labels}} {{repo}} {{vars.who}}'`,
    text: `
      warning: \`message\` of mapping "a" names who; that is a field of the payload, and \`vars\` has a value of this name [UNKNOWN_FIELD]
      hint: Did you mean vars.who?
      warning: \`message\` of mapping "a" names repo; that is a field of the payload, and \`params\` has a value of this name [UNKNOWN_FIELD]
      hint: Did you mean params.repo?`,
  },
  {
    name: 'placeholders in single braces',
    command: 'lint',
    mapping: `match: { path: a }
message: 'Review {pull_request.title}'`,
    text: `
      warning: \`message\` of mapping "a" holds {pull_request.title}, which stays as it is written [LITERAL_TEXT]
      hint: For a value of the payload write {{pull_request.title}}.`,
  },
  {
    name: 'a forEach whose message names the payload in place of the element',
    command: 'lint',
    mapping: `match: { path: a }
forEach: alerts
message: 'Alert {{title}}'`,
    text: `
      warning: Nothing in mapping "a" names the element of \`forEach\`: all its actions are the same [UNUSED_ELEMENT]
      hint: The element is \`item\`, as in {{item.title}}; names without it are those of the whole payload.`,
  },
  {
    name: '`secret` of an endpoint beside its provider',
    config: `hooks: { endpoints: { github: { signature: x } } }
`,
    text: `
      error: \`hooks.endpoints.github.signature\` is not a known key [UNKNOWN_KEY]
      hint: Write \`verify: { provider: NAME, secret: "\${NAME}" }\`.`,
  },
  {
    name: 'a variable as in a shell',
    config: `hooks: { token: $REVEILLE_HOOK_TOKEN }
`,
    text: `
      error: \`hooks.token\` refers to a variable in the way of another tool [REFERENCE_SYNTAX]
      hint: Write \${REVEILLE_HOOK_TOKEN}.`,
  },
  {
    name: 'a reference without quotes between braces',
    config: `hooks: { token: \${REVEILLE_HOOK_TOKEN} }
`,
    text: `
      error: This does not belong here [YAML_SYNTAX]
      hint: A reference between braces needs quotes around it, as in { token: "\${NAME}" }.`,
  },
  {
    name: 'a variable as in GitHub Actions',
    config: `hooks: { token: '\${{ secrets.HOOK_TOKEN }}' }
`,
    text: `
      error: \`hooks.token\` refers to a variable in the way of another tool [REFERENCE_SYNTAX]
      hint: Write \${HOOK_TOKEN}.`,
  },
  {
    name: 'a variable as in Windows',
    config: `hooks: { token: '%HOOK_TOKEN%' }
`,
    text: `
      error: \`hooks.token\` refers to a variable in the way of another tool [REFERENCE_SYNTAX]
      hint: Write \${HOOK_TOKEN}.`,
  },
  {
    name: '`server` for the gateway',
    config: `server: { port: 8080 }
`,
    text: `
      error: \`server\` is not a known key [UNKNOWN_KEY]
      hint: Write \`gateway:\`, with \`host:\` and \`port:\`.`,
  },
  {
    name: '`bind` for the host',
    config: `gateway: { bind: 0.0.0.0 }
`,
    text: `
      error: \`gateway.bind\` is not a known key [UNKNOWN_KEY]
      hint: Write \`host:\`.`,
  },
  {
    name: 'a channel at the top',
    config: `slack: { botToken: x }
`,
    text: `
      error: \`slack\` is not a known key [UNKNOWN_KEY]
      hint: Write it under \`channels:\`.`,
  },
  {
    name: '`secrets`',
    config: `secrets: { a: b }
`,
    text: `
      error: \`secrets\` is not a known key [UNKNOWN_KEY]
      hint: Remove it: secrets stand in \`.env\` beside this file, and \`\${NAME}\` refers to them.`,
  },
  {
    name: '`webhooks` for hooks',
    config: `webhooks: { enabled: true }
`,
    text: `
      error: \`webhooks\` is not a known key [UNKNOWN_KEY]
      hint: Write \`hooks:\`, with \`mappings:\` below it.`,
  },
  {
    name: '`yes` where a payload has a boolean, without a sample',
    command: 'lint',
    mapping: `match: { path: a, body: { draft: yes } }
message: x`,
    text: `
      warning: \`match.body.draft\` of mapping "a" is the text "yes", and no truth value [LITERAL_TEXT]
      hint: Write \`true\`, without quotes; yes, no, on and off are texts. If a text is meant, add a test that has it.`,
  },
  {
    name: 'a dotted path as a key, without a sample',
    command: 'lint',
    mapping: `match: { path: a, body: { pull_request.draft: false } }
message: x`,
    text: `
      warning: \`match.body["pull_request.draft"]\` of mapping "a" has a key with a dot in it, which is one key of the payload [LITERAL_KEY]
      hint: Nest it: \`pull_request: { draft: … }\`. If the payload has that key, add a test that shows it.`,
  },
  {
    name: '`yes` where a sample has a boolean',
    command: 'lint',
    file: `mappings: [{ id: a, match: { path: a, body: { draft: yes } }, message: x }]
tests: [{ name: t, request: { endpoint: a, body: { draft: false } }, expect: { mapping: a } }]
`,
    text: `
      warning: \`match.body.draft\` of mapping "a" is satisfied by no sample; samples hold false [UNMET_CLAUSE]
      hint: Write \`true\`, without quotes.`,
  },
  {
    name: 'a number in quotes where a sample has a number',
    command: 'lint',
    file: `mappings: [{ id: a, match: { path: a, body: { n: '42' } }, message: x }]
tests: [{ name: t, request: { endpoint: a, body: { n: 42 } }, expect: { mapping: a } }]
`,
    text: `
      warning: \`match.body.n\` of mapping "a" is satisfied by no sample; samples hold 42 [UNMET_CLAUSE]
      hint: Write \`42\`, without quotes.`,
  },
  {
    name: 'a number where a sample has a text',
    command: 'lint',
    file: `mappings: [{ id: a, match: { path: a, body: { n: 42 } }, message: x }]
tests: [{ name: t, request: { endpoint: a, body: { n: '42' } }, expect: { mapping: a } }]
`,
    text: `
      warning: \`match.body.n\` of mapping "a" is satisfied by no sample; samples hold "42" [UNMET_CLAUSE]
      hint: Put it in quotes: "42".`,
  },
  {
    name: 'a value in another case',
    command: 'lint',
    file: `mappings: [{ id: a, match: { path: a, body: { action: Opened } }, message: x }]
tests: [{ name: t, request: { endpoint: a, body: { action: opened } }, expect: { mapping: a } }]
`,
    text: `
      warning: \`match.body.action\` of mapping "a" is satisfied by no sample; samples hold "opened" [UNMET_CLAUSE]
      hint: Did you mean "opened"?`,
  },
  {
    name: '`numeric` for a text',
    command: 'lint',
    file: `mappings: [{ id: a, match: { path: a, body: { n: { numeric: ['>', 5] } } }, message: x }]
tests: [{ name: t, request: { endpoint: a, body: { n: '42' } }, expect: { mapping: a } }]
`,
    text: `
      warning: \`match.body.n\` of mapping "a" is satisfied by no sample; samples hold "42" [UNMET_CLAUSE]
      hint: \`numeric\` takes numbers alone; write \`when: "$number(n) > …"\`.`,
  },
  {
    name: 'a key that no sample has',
    command: 'lint',
    file: `mappings: [{ id: a, match: { path: a, body: { acton: opened } }, message: x }]
tests: [{ name: t, request: { endpoint: a, body: { action: opened } }, expect: { mapping: a } }]
`,
    text: `
      warning: \`match.body.acton\` of mapping "a" names acton; no sample of its endpoint has such a field [UNKNOWN_FIELD]
      hint: Did you mean action?`,
  },
  {
    name: 'mistakes of the shape, of the pattern, of the expression and of the template in one file, all reported at once',
    file: `mappings:
  - { id: a, match: { path: a }, acton: wake, message: x }
  - { id: b, match: { path: b, body: { n: { gt: 1 } } }, message: x }
  - { id: c, match: { path: c, when: "a == 'x'" }, message: x }
  - { id: d, match: { path: d }, message: "{{#if a}}x" }
`,
    text: `
      error: \`mappings[0].acton\` is not a known key [UNKNOWN_KEY]
      hint: Did you mean \`action\`?
      error: \`match.body.n.gt\` of mapping "b": is not an operator; the operators are ${operators} [FOREIGN_OPERATOR]
      hint: Write \`numeric: [">", 1]\`.
      error: \`match.when\` of mapping "c": equality is one \`=\` [EXPRESSION_SYNTAX]
      hint: Write \`a = 'x'\`.
      error: \`message\` of mapping "d": the template ends before a mustache or block is closed [TEMPLATE_SYNTAX]
      hint: Close every {{ with }} and every {{#if}} or {{#each}} with {{/if}} or {{/each}}.`,
  },
]
