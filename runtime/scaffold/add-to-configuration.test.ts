import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { addToConfiguration } from './edit-configuration.ts'
import { NotEditable } from './parsed-text.ts'

const slack = { botToken: '${SLACK_BOT_TOKEN}', defaultTo: '#general' }
const add = (text: string) => addToConfiguration(text, 'channels', 'slack', slack)

test('an entry is added below the others, and every other byte stays', () => {
  const before = [
    '# Ours.',
    'gateway:   { port: 8787 }   # odd   spacing',
    '',
    'channels:',
    '  # Prints replies.',
    '  terminal: {}  # here',
    '',
    '# What follows.',
    'plugins: []',
    '',
  ]
  const after = add(before.join('\n')).split('\n')
  assert.deepEqual(after, [
    ...before.slice(0, 6),
    '  slack:',
    '    botToken: "${SLACK_BOT_TOKEN}"',
    '    defaultTo: "#general"',
    ...before.slice(6),
  ])
})

for (const [what, text, expected] of [
  ['nothing at all', '', 'channels:\n  slack:\n'],
  ['only a comment', '# Nothing yet.\n', '# Nothing yet.\n\nchannels:\n  slack:\n'],
  ['no such section', 'plugins: []', 'plugins: []\n\nchannels:\n  slack:\n'],
  ['an empty section', 'channels:\nplugins: []\n', 'channels:\n  slack:\n'],
  [
    'braces',
    'channels: { terminal: { defaultTo: stderr } } # ours\nplugins: []\n',
    'channels: # ours\n  terminal: { defaultTo: stderr }\n  slack:\n',
  ],
  ['empty braces', 'channels: {}\n', 'channels:\n  slack:\n'],
  [
    'four spaces',
    'channels:\n    terminal:\n        defaultTo: stderr\nplugins: []\n',
    '        defaultTo: stderr\n    slack:\n',
  ],
  ['a last line without an end', 'channels:\n  terminal: {}', '  terminal: {}\n  slack:\n'],
] as const) {
  test(`a configuration with ${what} takes an entry`, () => {
    const after = add(text)
    assert.ok(after.includes(expected), after)
    const before = (parse(text) ?? {}) as { channels?: object }
    assert.deepEqual(parse(after), { ...before, channels: { ...before.channels, slack } })
  })
}

const entry = 'slack: { botToken: "${SLACK_BOT_TOKEN}", defaultTo: "#general" }'

for (const [what, text, expected] of [
  [
    'braces over several lines, and a comma at their end',
    '# Ours.\nchannels: {\n  terminal: {}, # prints\n}\nplugins: []\n',
    `# Ours.\nchannels: {\n  terminal: {}, # prints\n  ${entry}\n}\nplugins: []\n`,
  ],
  [
    'braces over several lines',
    'channels: {\n  # Prints.\n  terminal: {} # here\n  # No more.\n}\n',
    `channels: {\n  # Prints.\n  terminal: {}, # here\n  # No more.\n  ${entry}\n}\n`,
  ],
  ['braces over two lines', 'channels: {\n  terminal: {} }\n', `channels: {\n  terminal: {}, ${entry} }\n`],
  [
    'braces around everything',
    '{ plugins: [], channels: { terminal: {} } } # one line\n',
    `{ plugins: [], channels: { terminal: {}, ${entry} } } # one line\n`,
  ],
  ['empty braces in braces', '{channels: {}}\n', `{channels: { ${entry} }}\n`],
  [
    'braces without the section',
    '{ plugins: [] } # ours\n',
    `{ plugins: [], channels: { ${entry} } } # ours\n`,
  ],
  [
    'JSON on one line',
    '{"plugins":[]}\n',
    '{"plugins":[], "channels":{"slack":{"botToken":"${SLACK_BOT_TOKEN}","defaultTo":"#general"}}}\n',
  ],
  [
    'JSON over several lines',
    '{\n  "channels": {\n    "terminal": {}\n  },\n  "plugins": []\n}\n',
    '{\n  "channels": {\n    "terminal": {},\n    "slack": {\n      "botToken": "${SLACK_BOT_TOKEN}",\n      "defaultTo": "#general"\n    }\n  },\n  "plugins": []\n}\n',
  ],
  [
    'line ends of Windows',
    'channels:\r\n  terminal: {}\r\nplugins: []\r\n',
    'channels:\r\n  terminal: {}\r\n  slack:\r\n    botToken: "${SLACK_BOT_TOKEN}"\r\n    defaultTo: "#general"\r\nplugins: []\r\n',
  ],
] as const) {
  test(`an entry goes into ${what}, and every other byte stays`, () => assert.equal(add(text), expected))
}

test('in an unknown layout the content is right, though the layout changes', () => {
  const after = add('base: &base { terminal: {} }\nchannels: &mine\n  ? terminal\n  : {}\n')
  assert.deepEqual(parse(after).channels, { terminal: {}, slack })
})

test('JSON stays JSON', () => {
  const after = add('{\n  "plugins": []\n}\n')
  assert.deepEqual(JSON.parse(after), { plugins: [], channels: { slack } })
})

test('nothing is added to a broken file, or under a name that exists', () => {
  const refused = (text: string, words: RegExp) =>
    assert.throws(
      () => add(text),
      (error) => error instanceof NotEditable && words.test(error.message),
    )
  refused('channels: { slack: {} }\n', /has channels\.slack already/)
  refused('channels: [slack]\n', /`channels` does not hold names/)
  refused('- a\n', /does not hold keys/)
  refused('channels: {\n', /^Line 2, column 1 is no YAML: .*[^:]$/)
  refused('base: &base { terminal: {} }\nchannels: *base\n', /`channels` is an alias/)
})
