/** Lists the mappings that hostile bodies are sent to: every kind of key, each at its own endpoint. */

type Mapping = Readonly<Record<string, unknown>>

const agent = { action: 'agent', deliver: false, wakeMode: 'next-heartbeat' }

/** All patterns are tested, and only the last one matches. */
function conditions(clause: 'body' | 'when', asked: readonly unknown[]): readonly Mapping[] {
  return [
    ...asked.map((condition) => ({ match: { [clause]: condition }, action: 'wake', text: 'never meant' })),
    { action: 'wake', mode: 'next-heartbeat', text: 'none of them held' },
  ]
}

/** One mapping with a message for each, in the order of the endpoints' names. */
function messages(
  prefix: string,
  templates: readonly string[],
): Readonly<Record<string, readonly Mapping[]>> {
  return Object.fromEntries(
    templates.map((message, index) => [
      `${prefix}-${index + 1}`,
      [{ ...agent, message: `Look: ${message}` }],
    ]),
  )
}

/** Maps an endpoint to its mappings, in order. */
export const hostileMappings: Readonly<Record<string, readonly Mapping[]>> = {
  equals: conditions('body', [
    { a: 'never' },
    { a: -1 },
    { a: null, b: 'never' },
    { a: { a: { a: 'never' } } },
    { a: { x: ['never', -1, true] } },
    { a: { __proto__x: 1, constructor: 1 } },
    { a: { toString: 'never' } },
  ]),
  operators: conditions('body', [
    { a: { exists: false } },
    { a: { x: { exists: true } }, b: 'never' },
    { a: { prefix: 'never' } },
    { a: { suffix: 'never' } },
    { a: { 'anything-but': ['never', 0, 'a'] }, b: 'never' },
    { a: { numeric: ['>', 1e308, '<=', 1.1e308] } },
    { a: { a: { numeric: ['<', -1e300] } } },
    { a: [{ prefix: 'never' }, { numeric: ['=', -1] }, { a: { exists: true, suffix: 'never' } }] },
  ]),
  patterns: conditions('body', [
    { a: { pattern: 'never$' } },
    { a: { pattern: '^(a+)+$', prefix: 'b' } },
    { a: { pattern: '(a+)+[^a!]' } },
    { a: { pattern: '(x=)*y$' } },
    { a: { pattern: '(a|b)*a(a|b){12}c' } },
    { a: { pattern: '(?:a[ab]{30}|b[ab]{25}){3}c' } },
    { a: { pattern: '(?i)(\\w+\\s?)+never$' } },
  ]),
  'patterns-2': conditions('body', [
    { a: { pattern: '\\p{L}+\\d{3}\\p{Lu}' } },
    { a: { pattern: '^.*never.*$' } },
    { a: { pattern: '([^"]*"){100}never' } },
    { a: { pattern: '(?s)a.{500}never' } },
    { a: { pattern: '\\b(?:never|not|no)\\b' } },
    { a: { a: { pattern: 'x*y' }, x: { pattern: '^t\\d+$', suffix: 'never' } } },
    { a: { pattern: '[^\\x00-\\x{10FFFF}]' } },
  ]),
  headers: [
    { match: { headers: { 'x-hostile': { pattern: '^(a+)+$' } } }, action: 'wake', text: 'never meant' },
    { match: { headers: { 'x-hostile': ['never', 'not'] } }, action: 'wake', text: 'never meant' },
    { match: { headers: { 'x-absent': { exists: true } } }, action: 'wake', text: 'never meant' },
    { ...agent, message: '{{headers.x-hostile}}', sessionKey: 'hook:{{truncate headers.x-hostile 40}}' },
  ],
  source: [{ match: { source: 'never' }, action: 'wake', text: 'never meant' }],
  'parts/:one/:two': [{ ...agent, message: '{{params.one}} {{truncate (json a) 100}} {{path}}' }],

  'when-numbers': conditions('when', [
    '$sum(a) < -1 or $max(a) < -1 or $average(a) < -1',
    '$count(a) < 0 or a = -1 or 2 in a and false',
    '$number(a) = -1 or $round($number(a)) = -1',
    '$formatNumber($count(a), "#,##0") = "x" or $formatBase($count(a), 2) = "x"',
  ]),
  'when-texts': conditions('when', [
    '$length(a) = -1 or $substring(a, 5, 9) = "never"',
    '$uppercase(a) = "never" or $lowercase(a) = "never"',
    '$trim(a) = "never" or $pad(a, 2000000) = "never"',
    '$contains(a, "never") or $substringBefore(a, "never") = "never"',
    '$split(a, " ")[0] = "never" or $join(a, "-") = "never"',
    '$replace(a, "a", "bb") = "never"',
    '$string(a) = "never" or a & a = "never"',
  ]),
  'when-encodings': conditions('when', [
    '$base64encode(a) = "never" or $base64decode(a) = "never"',
    '$encodeUrl(a) = "never" or $encodeUrlComponent(a) = "never" or $decodeUrl(a) = "never"',
    '$toMillis(a) = -1 or $fromMillis(5, a) = "never"',
    '$toMillis(a, "[MNn][FNn][P]") = -1 or $parseInteger(a, "w") = -1',
    '$now() = "never" or $millis() = 0',
  ]),
  'when-patterns': conditions('when', [
    '$contains(a, /(a+)+[^a!]/) or $contains(a, /(\\w+\\s?)+never$/i)',
    '$match(a, /(x=)*y/).match = "never"',
    '$replace(a, /a|.*never/, "b") = "never"',
    '$split(a, /\\s+/)[0] = "never"',
    '$match(a, /(?:a[ab]{30}|b[ab]{25}){3}c/).match = "never"',
  ]),
  'when-lists': conditions('when', [
    '$sort(a)[0] = "never"',
    '$distinct(a)[0] = "never"',
    '$reverse(a)[0] = "never" or $shuffle(a)[0] = "never"',
    '$append(a, a)[0] = "never" or $zip(a, a)[0] = "never"',
    'a^(>$)[0] = "never" or a^(a)[0] = "never"',
    'a[a = "never"] = "never" or a[$ = "never"]',
  ]),
  'when-functions': conditions('when', [
    '$map(a, function($v) { $v })[0] = "never"',
    '$filter(a, function($v) { $v = "never" }) = "never"',
    '$reduce(a, function($s, $v) { $s }) = "never"',
    '$single(a, function($v) { $v = "never" }) = "never"',
    '$each(a, function($v, $k) { $k }) = "never" or $sift(a, function($v) { false }) = "never"',
    '($f := function($x) { $f($x) }; $f(1))',
  ]),
  'when-objects': conditions('when', [
    '$keys(a) = "never" or $lookup(a, "x") = "never"',
    '$spread(a) = "never" or $merge(a) = "never"',
    'a{$string(a): $} = "never"',
    '$ ~> |a|{"b": 1}| = "never"',
    '$type(a) = "never" or $exists(a) = "never" or $boolean(a) = "never"',
    'a = $clone(a) and b = "never"',
  ]),
  'when-paths': conditions('when', [
    '**.never = 1',
    '*.a.a = "never" or $$.*[0] = "never"',
    'a.a.a.a = "never"',
    'a@$x.a@$y[$x.a = $y.a].($x.x) = "never"',
    'a#$i[x = "never"].$i = -1 or a.%.b = "never"',
    '$count(**) < 0',
    '[1..10000].$$.a = "never"',
  ]),

  'schema-types': [
    {
      ...agent,
      message: 'it fits',
      schema: {
        type: 'object',
        required: ['a'],
        properties: {
          a: {
            anyOf: [
              {
                type: 'array',
                items: { type: ['number', 'string', 'object', 'array', 'null'] },
                uniqueItems: true,
              },
              { type: 'string', pattern: '^(\\w+\\s?)*$', minLength: 3, maxLength: 900_000 },
              {
                type: 'object',
                patternProperties: { '^k[0-9]+$': { type: 'integer' } },
                additionalProperties: false,
              },
            ],
          },
        },
      },
    },
  ],
  'schema-choices': [
    {
      ...agent,
      message: 'it fits',
      schema: {
        $ref: '#/definitions/tree',
        definitions: {
          tree: {
            oneOf: [
              { type: 'array', items: { $ref: '#/definitions/tree' } },
              { type: 'array', contains: { $ref: '#/definitions/tree' }, maxItems: 3 },
              { type: 'object', additionalProperties: { $ref: '#/definitions/tree' } },
              { type: 'string', format: 'email' },
              { type: ['number', 'null', 'boolean'] },
            ],
          },
        },
      },
    },
  ],
  'schema-unique': [
    {
      ...agent,
      message: 'it fits',
      schema: {
        properties: { a: { uniqueItems: true, propertyNames: { maxLength: 40, pattern: '^[a-z]' } } },
      },
    },
  ],
  'schema-formats': [
    {
      ...agent,
      message: 'it fits',
      schema: {
        properties: {
          a: { type: ['string', 'array'], format: 'date-time', items: { format: 'uri' } },
          b: { enum: ['b'], format: 'email' },
        },
      },
    },
  ],

  'each-element': [
    {
      ...agent,
      forEach: 'a',
      message: '{{index}}: {{truncate (json item) 200}}',
      name: '{{truncate item.x 20}}',
    },
  ],
  'first-elements': [
    { ...agent, forEach: '[a[[0..49]]]', message: '{{index}} {{item}} {{truncate (json a) 50}}' },
  ],
  vars: [
    {
      ...agent,
      vars: { all: 'a', first: '[a[[0..9]]]', text: '$string(vars.first)', count: '$count(a)' },
      message:
        '{{vars.count}} {{#each vars.first}}{{truncate (json this) 100}}{{/each}} {{truncate vars.text 1000}}',
    },
  ],
  expressions: [
    {
      ...agent,
      message: '{% a %}',
      name: '{% $string(b) %}',
      sessionKey: 'hook:{{b}}',
      timeoutSeconds: '{% 60 %}',
    },
  ],
  continued: [
    { ...agent, continue: true, message: '{{truncate (json a) 1000}}' },
    { action: 'wake', mode: 'now', continue: true, text: '{{#each a}}{{truncate (json this) 5}}{{/each}}' },
    { ...agent, continue: true, match: { when: '$count(a) > -1' }, message: '{{truncate a 3000}}' },
    {
      ...agent,
      forEach: '[a[[0..9]]]',
      message: '{{truncate (json item) 300}}',
      sessionKey: 'hook:{{index}}',
    },
  ],
  strict: [{ ...agent, strict: true, message: '{{#each a}}{{x}}{{/each}}{{a}}' }],
  'session-key': [{ ...agent, message: 'a', sessionKey: 'hook:{{truncate (json a) 60}}' }],
  routing: [
    {
      ...agent,
      deliver: true,
      allowPayloadRouting: true,
      message: 'a',
      deliverTo: [{ channel: '{{#if b}}terminal{{/if}}', to: '{{truncate (json a) 60}}' }],
    },
  ],
  trusted: [{ ...agent, allowUnsafeExternalContent: true, message: '{{truncate (json a) 200000}}' }],

  ...messages('value', [
    '{{a}}',
    '{{truncate a 100}} {{truncate a 200000}}',
    '{{json a}}',
    '{{json payload 2}}',
    '{{truncate (json payload) 200000}}',
    '{{truncate (json a 8) 1000}}',
    '{{join a ", "}}',
    '{{truncate (join a " ") 200000}}',
    '{{quote a}}',
    '{{truncate (quote a) 200000}}',
    '{{date a}} {{date a "YYYY-MM-DD HH:mm" tz="Europe/Berlin"}} {{plural a "thing"}} {{default a.x b}}',
    '{{#if (eq (json a) (json a))}}{{truncate (json a) 10}}{{/if}}{{truncate (json payload) 10}}',
  ]),
  ...messages('loop', [
    '{{#each a}}{{this}} {{/each}}',
    '{{#each a}}{{truncate (json this) 3}}{{/each}}',
    '{{#each a}}{{@index}}{{@key}}: {{a}} {{x}}\n{{/each}}',
    '{{#each a}}{{#each this}}{{this}}{{else}}-{{/each}}{{/each}}',
    '{{#each a}}{{#each @root.a}}{{#if x}}{{x}}{{/if}}{{/each}}{{/each}}',
    '{{#with a}}{{a}} {{x}} {{#each this}}{{@key}}{{/each}}{{/with}}',
    '{{#each a}}{{date this}}{{plural this "x"}}{{quote this}}{{/each}}',
    '{{#each payload}}{{@key}} {{/each}}',
  ]),
}

/** Writes one mapping file as JSON. */
export function mappingFile(): string {
  const mappings = Object.entries(hostileMappings).flatMap(([path, own]) =>
    own.map(({ match, ...rest }) => ({ match: { path, ...(match as object | undefined) }, ...rest })),
  )
  return JSON.stringify({ mappings })
}
