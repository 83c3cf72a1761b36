import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { type Edit, editConfiguration } from './edit-configuration.ts'
import { NotEditable } from './parsed-text.ts'

const gmail = { account: 'ada@example.com', mode: 'push', labels: ['INBOX', 'work, later'], maxBytes: 20000 }
const isGmail = (item: unknown) =>
  item === 'gmail' || (typeof item === 'object' && item !== null && 'name' in item && item.name === 'gmail')

const source: Edit = { set: ['hooks', 'gmail'], to: gmail }
const policy: Edit = {
  set: ['hooks', 'endpoints', 'gmail/push'],
  to: { verify: { provider: 'google-pubsub' } },
}
const preset: Edit = { include: ['hooks', 'presets'], item: 'gmail', is: isGmail }
const all = [source, policy, preset]

const lines = (...texts: string[]) => `${texts.join('\n')}\n`

const made = [
  'hooks:',
  '  gmail:',
  '    account: ada@example.com',
  '    mode: push',
  '    labels: [INBOX, "work, later"]',
  '    maxBytes: 20000',
  '  endpoints:',
  '    gmail/push:',
  '      verify:',
  '        provider: google-pubsub',
  '  presets: [gmail]',
]

for (const [what, before, after] of [
  ['an empty file', '', lines(...made)],
  ['a file that holds a comment', '# Ours.\n', lines('# Ours.', '', ...made)],
  ['no hooks', 'plugins: []  # none\n', lines('plugins: []  # none', '', ...made)],
  [
    'hooks that hold nothing',
    'hooks: # later\n  # Soon.\n',
    lines('hooks: # later', ...made.slice(1), '  # Soon.'),
  ],
  [
    'hooks in braces',
    'hooks: { enabled: true, presets: [] } # on\nplugins: []\n',
    lines('hooks: # on', '  enabled: true', '  presets: [gmail]', ...made.slice(1, -1), 'plugins: []'),
  ],
  [
    'lists of both kinds, and policies of others',
    lines(
      '# Ours.',
      'hooks:',
      '    presets:',
      '    - github   # code',
      '    # Money.',
      '    - { name: stripe, channel: slack }',
      '    endpoints:   # who may',
      "        'github': { auth: signature }   # they sign",
      '',
      '    # The end.',
      'plugins: []',
    ),
    lines(
      '# Ours.',
      'hooks:',
      '    presets:',
      '    - github   # code',
      '    # Money.',
      '    - { name: stripe, channel: slack }',
      '    - gmail',
      '    endpoints:   # who may',
      "        'github': { auth: signature }   # they sign",
      '        gmail/push:',
      '            verify:',
      '                provider: google-pubsub',
      '    gmail:',
      '        account: ada@example.com',
      '        mode: push',
      '        labels: [INBOX, "work, later"]',
      '        maxBytes: 20000',
      '',
      '    # The end.',
      'plugins: []',
    ),
  ],
  [
    'braces around everything, with tabs',
    '{\n\thooks: {\n\t\tenabled: true,\n\t\tpresets: ["github"],\n\t},\n}\n',
    '{\n\thooks: {\n\t\tenabled: true,\n\t\tpresets: ["github", gmail],\n' +
      '\t\tgmail: { account: ada@example.com, mode: push, labels: [INBOX, "work, later"], maxBytes: 20000 },\n' +
      '\t\tendpoints: { gmail/push: { verify: { provider: google-pubsub } } }\n\t},\n}\n',
  ],
] as const) {
  test(`all of it goes into ${what}, and every other byte stays`, () => {
    const edited = editConfiguration(before, all)
    assert.equal(edited, after)
    assert.equal(editConfiguration(edited, all), edited)
    assert.deepEqual(parse(edited).hooks.gmail, gmail)
  })
}

test('only the parts that differ are changed, and comments stay where they are', () => {
  const before = lines(
    'hooks:',
    '  gmail: # mine',
    '    account:   ada@example.com # who',
    '    # How it comes.',
    '    mode: pull   # no tunnel',
    '',
    '    pushEndpoint: https://hooks.example.com # the tunnel',
    '    labels: # which',
    '      - INBOX # new',
    '    model: openai/gpt-5',
    '  # All of it.',
    '  enabled: true',
  )
  const edited = editConfiguration(before, [{ ...source, keep: ['model'] }])
  assert.equal(
    edited,
    lines(
      'hooks:',
      '  gmail: # mine',
      '    account:   ada@example.com # who',
      '    # How it comes.',
      '    mode: push   # no tunnel',
      '',
      '    # the tunnel',
      '    labels: [INBOX, "work, later"] # which',
      '    # new',
      '    model: openai/gpt-5',
      '    maxBytes: 20000',
      '  # All of it.',
      '  enabled: true',
    ),
  )
})

for (const [what, before, after] of [
  [
    'JSON on one line',
    '{"hooks":{"presets":[]}}',
    '{"hooks":{"presets":["gmail"], "gmail":{"mode":"pull"}}}',
  ],
  [
    'JSON over several lines',
    '{\n  "hooks": {\n    "gmail": {\n      "mode": "push",\n      "topic": "t"\n    }\n  }\n}\n',
    '{\n  "hooks": {\n    "gmail": {\n      "mode": "pull"\n    },\n    "presets": [\n      "gmail"\n    ]\n  }\n}\n',
  ],
  [
    'line ends of Windows, of which one is not',
    'hooks:\r\n  presets: [github] # x\r\n  gmail:\r\n    mode: push\r\n# End.\n',
    'hooks:\r\n  presets: [github, gmail] # x\r\n  gmail:\r\n    mode: pull\r\n# End.\n',
  ],
  [
    'braces over several lines',
    'hooks: {\n  gmail: {\n    topic: t, # that\n    mode: push # how\n  } # end\n}\n',
    'hooks: {\n  gmail: {\n    # that\n    mode: pull # how\n  }, # end\n  presets: [gmail]\n}\n',
  ],
  [
    'braces with an anchor',
    'hooks: &ours { presets: [{ name: gmail, deliver: false }] }\n',
    'hooks: &ours { presets: [{ name: gmail, deliver: false }], gmail: { mode: pull } }\n',
  ],
] as const) {
  test(`an edit of ${what} keeps to it`, () => {
    const edits = [preset, { set: ['hooks', 'gmail'], to: { mode: 'pull' } }]
    assert.equal(editConfiguration(before, edits), after)
    assert.equal(editConfiguration(after, edits), after)
  })
}

test('in an unknown layout the content is right, though the layout changes', () => {
  const before = 'hooks:\n  ? gmail\n  : mode: push # how\n'
  const edited = editConfiguration(before, [{ set: ['hooks', 'gmail', 'mode'], to: 'pull' }, preset])
  assert.deepEqual(parse(edited), { hooks: { gmail: { mode: 'pull' }, presets: ['gmail'] } })
  assert.match(edited, /# how/)
})

test('a preset is found by its name alone and with options', () => {
  for (const item of ['gmail', '"gmail"', '{ name: gmail, deliver: false }']) {
    const text = `hooks: { presets: [github,  ${item}] }\n`
    assert.equal(editConfiguration(text, [preset]), text)
  }
})

test('a value that looks like a reference is escaped, and a reference that gives the same value stays', () => {
  const set = ['hooks', 'gmail', 'account']
  const edited = editConfiguration('', [{ set, to: 'a${HOME}' }])
  assert.equal(edited, lines('hooks:', '  gmail:', '    account: "a$${HOME}"'))
  assert.equal(editConfiguration(edited, [{ set, to: 'a${HOME}' }]), edited)
  const referring = 'hooks: { gmail: { account: "${WHO}", mode: push } }\n'
  const was = { account: 'ada', mode: 'push' }
  assert.equal(
    editConfiguration(referring, [{ set: ['hooks', 'gmail'], to: { account: 'ada', mode: 'pull' }, was }]),
    'hooks: { gmail: { account: "${WHO}", mode: pull } }\n',
  )
  assert.match(
    editConfiguration(referring, [{ set: ['hooks', 'gmail'], to: { account: 'bo', mode: 'push' }, was }]),
    /account: bo, mode: push/,
  )
})

test('a key that is set to undefined is removed', () => {
  const before = lines(
    'hooks:',
    '  gmail: { mode: pull }',
    '  endpoints:',
    '    gmail/push: {} # whose',
    '    a: {}',
  )
  const gone: Edit = { set: ['hooks', 'endpoints', 'gmail/push'], to: undefined }
  const after = lines('hooks:', '  gmail: { mode: pull }', '  endpoints:', '    # whose', '    a: {}')
  assert.equal(editConfiguration(before, [gone]), after)
  assert.equal(editConfiguration(after, [gone]), after)
})

test('an edit that would change more is refused in a sentence', () => {
  const refused = (text: string, words: RegExp) =>
    assert.throws(
      () => editConfiguration(text, all),
      (error) => error instanceof NotEditable && words.test(error.message),
    )
  refused('hooks: [gmail]\n', /`hooks` does not hold names/)
  refused('- a\n', /does not hold keys/)
  refused('hooks: {\n', /^Line 2, column 1 is no YAML: .*[^:]$/)
  refused('base: &base { enabled: true }\nhooks: *base\n', /`hooks` is an alias/)
  refused('hooks: &ours { enabled: true }\nother: *ours\n', /`hooks.gmail` cannot be changed alone/)
  refused('base: &base { presets: [a] }\nhooks: { <<: *base }\n', /`hooks` merges `<<`/)
  refused('{\n  // Ours.\n  hooks: {}\n}\n', /write them with `#`/)
  refused('hooks: { presets: github }\n', /`hooks.presets` is no list/)
  refused('a: 1\n---\nb: 2\n', /is no YAML/)
})
