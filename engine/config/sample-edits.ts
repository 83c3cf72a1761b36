/** Provides sample files as operators write them, and random edits for tests. */

export interface Random {
  /** Returns an integer from 0 up to `count` - 1. */
  below(count: number): number
  chance(share: number): boolean
  pick<One>(list: readonly One[]): One
}

/** Returns the same numbers for the same seed. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  const below = (count: number) => Math.floor(next() * count)
  const pick = <One>(list: readonly One[]) => list[below(list.length)] as One
  return { below, pick, chance: (share) => next() < share }
}

const typed = [' ', '\n', '- ', ': ', ' # x\n', '\t', '\r\n', ...`"'#[}&*!|a`]
const lines =
  `  - id: fresh\n    message: again ¦  - message: nobody ¦# a comment ¦ ¦    text: of wakes ¦    match: { path: odd* } ¦
    schema: schemas/one.json ¦    mesage: misspelt ¦tests: ¦    deliver: maybe`.split(/ ¦\n?/)

/** Types or deletes a character, or adds, deletes, duplicates, moves or indents a line, or changes the line endings. */
export function editText(random: Random, text: string): string {
  const at = random.below(text.length + 1)
  const all = text.split('\n')
  const line = random.below(all.length)
  switch (random.below(8)) {
    case 0:
      return text.slice(0, at) + random.pick(typed) + text.slice(at)
    case 1:
      return text.slice(0, at) + text.slice(at + 1 + random.below(3))
    case 2:
      return all.toSpliced(line, 0, random.pick(lines)).join('\n')
    case 3:
      return all.toSpliced(line, 1).join('\n')
    case 4:
      return all.toSpliced(random.below(all.length), 0, all[line] ?? '').join('\n')
    case 5:
      return all.with(line, ` ${all[line]}`).join('\n')
    case 6:
      return text.includes('\r') ? text.replaceAll('\r', '') : text.replaceAll('\n', '\r\n')
    default:
      return text.replace(/\b(one|two|three|uno)\b/, () => random.pick(['one', 'two', 'three', 'uno']))
  }
}

/** A folder that uses every feature of loading. */
export const sampleFiles: Readonly<Record<string, string>> = {
  'reveille.yaml': `# what every test has
gateway:
  log: { level: info }
hooks:
  path: /in
  presets: [{ name: p, channel: terminal }, q]
  endpoints:
    one: { maxBodyBytes: "\${SIZE}" }
  # of the configuration's own
  mappings:
    - id: own
      match: { path: one }
      message: |
        one
        two

    - message: "two {{x}}"
channels: { terminal: {} }
`,
  '.env': 'OTHER=1\n',
  'mappings/a.yaml': `endpoints:
  a: { maxBodyBytes: "\${SIZE:-3}" }
mappings:
  - id: a-one
    description: one
    match: { path: a, body: { n: [1, 2], deep: { exists: true } } }
    message: one {{payload.n}}
    text: has no effect
  # about the next
  - id: a-two
    enabled: false
    action: wake
    text: >-
      two
      and three
  - message: three
    schema: { type: object, properties: { id: { type: integer } } }
  - message: three
tests:
- name: one
  request: { endpoint: a, body: { n: 12345678901234567890 } }
  expect: { outcome: ignored }
- request: { endpoint: a, bodyFile: bodies/one.json }
  expect:
    mapping: a-one
`,
  'mappings/b.yaml': `mappings:
  - id: b-one
    message: &text one
    schema: schemas/one.json
  - { id: b-two, message: *text }
`,
  'mappings/c.json':
    '{\n  "mappings": [\n    { "id": "c-one", "message": "one" },\n    { "id": "c-two", "message": "two" }\n  ]\n}\n',
  'mappings/d/e.yaml': '# none\n',
  'mappings/schemas/one.json': '{ "type": "object" }\n',
  'mappings/bodies/one.json': '{ "n": 1 }\n',
  'presets/p.yaml': `mappings:
  - id: p-one
    match: { path: p }
    message: one
  - { id: a-two, message: gives way }
tests:
  - { name: one, request: { endpoint: p }, expect: { mapping: p-one, channel: last } }
`,
  'presets/q.yaml': 'mappings:\n- id: q-one\n  match: { path: q }\n  message: two\n',
}
