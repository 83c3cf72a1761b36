import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { type Edit, editConfiguration, escapeReferences } from './edit-configuration.ts'
import { NotEditable } from './parsed-text.ts'

const lines = (...texts: string[]) => `${texts.join('\n')}\n`
const isGmail = (item: unknown) => item === 'gmail' || (item as { name?: unknown } | null)?.name === 'gmail'
const set = (path: string, to: unknown): Edit => ({ set: path.split('.'), to })
const preset: Edit = { include: ['hooks', 'presets'], item: 'gmail', matches: isGmail }
const source = set('hooks.gmail', { mode: 'push', labels: ['INBOX', 'work, later'] })
const made = ['  gmail:', '    mode: push', '    labels: [ INBOX, "work, later" ]', '  presets: [ gmail ]']

for (const [what, before, edits, after] of [
  ['an empty file', '', [source, preset], lines('hooks:', ...made)],
  ['a file of comments', '# Ours.\n', [source, preset], lines('# Ours.', '', 'hooks:', ...made)],
  [
    'a section that holds nothing',
    'hooks: # later\n# Soon.\nplugins:   []\n',
    [preset],
    'hooks:\n  # later\n  presets: [ gmail ]\n# Soon.\nplugins:   []\n',
  ],
  [
    'a section in braces',
    'hooks: { enabled: true } # on\nplugins: []\n',
    [preset],
    'hooks:\n  # on\n  enabled: true\n  presets: [ gmail ]\nplugins: []\n',
  ],
  [
    'a list of lines below its key, four spaces, and other sections with odd ones',
    lines(
      'gateway:   { port: 8787 }   # odd',
      'hooks:',
      '    # Money.',
      "    'presets':",
      '      - stripe   # code',
      '',
      '# The end.',
      'plugins:  []',
    ),
    [preset],
    lines(
      'gateway:   { port: 8787 }   # odd',
      'hooks:',
      '    # Money.',
      "    'presets':",
      '        - stripe # code',
      '        - gmail',
      '',
      '# The end.',
      'plugins:  []',
    ),
  ],
  [
    'braces around everything',
    '{ plugins: [] } # ours\n',
    [preset],
    '{ plugins: [], hooks: { presets: [ gmail ] } } # ours\n',
  ],
  [
    'JSON on one line',
    '{"hooks":{},"plugins":[]}',
    [preset],
    '{"hooks":{"presets":["gmail"]},"plugins":[]}\n',
  ],
  [
    'JSON over several lines',
    '{\n  "hooks": {\n    "gmail": {\n      "mode": "push"\n    }\n  }\n}\n',
    [set('hooks.gmail', { mode: 'pull' })],
    '{\n  "hooks": {\n    "gmail": {\n      "mode": "pull"\n    }\n  }\n}\n',
  ],
  [
    'only what differs',
    lines(
      'hooks:',
      '  gmail:',
      '    # How it comes.',
      '    mode: pull # no tunnel',
      '    model: openai/gpt-5 # mine',
    ),
    [set('hooks.gmail.mode', 'push')],
    lines(
      'hooks:',
      '  gmail:',
      '    # How it comes.',
      '    mode: push # no tunnel',
      '    model: openai/gpt-5 # mine',
    ),
  ],
  [
    'what is removed, but for its comment',
    lines(
      'hooks:',
      '  endpoints:',
      '    # Whose.',
      '    gmail/push:',
      '      auth: token # theirs',
      '    a: {}',
    ),
    [set('hooks.endpoints.gmail/push', undefined)],
    lines('# theirs', 'hooks:', '  endpoints:', '    # Whose.', '    a: {}'),
  ],
  [
    'what looks like a reference',
    '',
    [set('hooks.x', escapeReferences('a${HOME}'))],
    'hooks:\n  x: "a$${HOME}"\n',
  ],
] as const) {
  test(`an edit of ${what}`, () => {
    const edited = editConfiguration(before, edits)
    assert.equal(edited, after)
    assert.equal(editConfiguration(edited, edits), edited, 'a second time')
  })
}

test('a preset is found by its name alone and with options', () => {
  for (const item of ['gmail', '"gmail"', '{ name: gmail, deliver: false }']) {
    const text = `hooks: { presets: [github,  ${item}] }\n`
    assert.equal(editConfiguration(text, [preset]), text)
  }
})

test('an entry is added below the others, its references in quotes', () => {
  const slack = { botToken: '${SLACK_BOT_TOKEN}', defaultTo: '#general' }
  const before = lines(
    '# Ours.',
    'channels:',
    '  # Prints replies.',
    '  terminal: {} # here',
    '',
    '# What follows.',
    'plugins: []',
  )
  const edit = [set('channels.slack', slack)]
  const after = editConfiguration(before, edit)
  const added = ['  slack:', '    botToken: "${SLACK_BOT_TOKEN}"', '    defaultTo: "#general"']
  assert.deepEqual(after.split('\n'), before.split('\n').toSpliced(4, 0, ...added))
  const odd = 'base: &base { terminal: {} }\nchannels: &mine\n  ? terminal\n  : {}\n'
  const channels = { terminal: {}, slack }
  assert.deepEqual(parse(editConfiguration(odd, edit)).channels, channels)
})

test('an edit that would change more is refused in a sentence', () => {
  for (const [text, words] of [
    ['hooks: [gmail]\n', /`hooks` does not hold names/],
    ['- a\n', /does not hold keys/],
    ['hooks: {\n', /^Line 2, column 1 is no YAML: .*[^:]$/],
    ['base: &base { enabled: true }\nhooks: *base\n', /`hooks` is an alias/],
    ['hooks: &ours { enabled: true }\nother: *ours\n', /`hooks.gmail` cannot be changed alone/],
    ['base: &base { presets: [a] }\nhooks: { <<: *base }\n', /`hooks` merges `<<`/],
    ['{\n  // Ours.\n  hooks: {}\n}\n', /write them with `#`/],
    ['hooks: { gmail: {}, presets: github }\n', /`hooks.presets` is no list/],
    ['a: 1\n---\nb: 2\n', /is no YAML/],
  ] as const)
    assert.throws(
      () => editConfiguration(text, [source, preset]),
      (error) => error instanceof NotEditable && words.test(error.message),
      text,
    )
})
