import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Mapping } from '../compile/fixture.ts'
import { lintOf, mappingOf, testOf } from './fixture.ts'

const pull = {
  action: 'opened',
  number: 7,
  pull_request: { title: 'Mend', draft: false, user: { login: 'ada' }, milestone: null, labels: [] },
  commits: [{ id: 'c1', author: { name: 'Ada' }, files: ['a', 'b'] }, { id: 'c2' }],
  repository: { full_name: 'harbour/lamp' },
}

/** Returns the findings about the fields of one mapping, whose test has the payload above. */
async function found(mapping: Mapping, body: unknown = pull): Promise<readonly string[]> {
  const tests = [testOf('one', { body })]
  const diagnostics = await lintOf([mappingOf('one', { match: { path: 'test' }, ...mapping })], { tests })
  return diagnostics
    .filter(({ code }) => code === 'UNKNOWN_FIELD')
    .map(({ message, hint }) => `${/names (\S+);/.exec(message)?.[1]} ${hint}`)
}

test('a field that no sample has is reported with the nearest one beside it, or elsewhere', async () => {
  assert.deepEqual(await found({ message: '{{pull_request.titel}} {{full_name}}' }), [
    'pull_request.titel Did you mean pull_request.title?',
    'full_name Did you mean repository.full_name?',
  ])
})

test('a key of a pattern that was meant as a path or as an operator gets a hint', async () => {
  const of = (body: Record<string, unknown>) => found({ match: { path: 'test', body }, message: 'x' })
  assert.deepEqual(await of({ 'pull_request.user.login': 'ada' }), [
    'pull_request.user.login A key with a dot in it is one key. Nest it: pull_request: { user: { login: … } }.',
  ])
  assert.deepEqual(await of({ action: { prefx: 'open' } }), [
    'action.prefx Did you mean the operator prefix?',
  ])
})

test('the keys of coalesce and dedupe are read as templates or expressions', async () => {
  const limits = { windowMs: 1, maxWaitMs: 1, keep: 'latest', maxRunsPerHour: 1 } as const
  const of = (key: string) => found({ message: 'x', coalesce: { ...limits, key } })
  const deduped = (key: string) => found({ message: 'x', dedupe: { enabled: true, key } })
  for (const key of ['{{repository.ful_name}} {{number}}', 'repository.ful_name & number']) {
    const hints = ['repository.ful_name Did you mean repository.full_name?']
    assert.deepEqual(await of(key), hints, key)
    assert.deepEqual(await deduped(key), hints, key)
  }
  assert.deepEqual(await of("'repository.ful_name'"), [])
})

test('item, index, params and vars are fields of the payload where the mapping does not define them', async () => {
  const body = { item: { title: 'Launch' }, index: 4, params: { a: 1 }, vars: { b: 2 } }
  assert.deepEqual(await found({ message: '{{item.title}} {{index}} {{params.a}} {{vars.b}}' }, body), [])
  assert.deepEqual(await found({ message: '{% item.title & vars.b %} {{item.titel}}' }, body), [
    'item.titel Did you mean item.title?',
  ])
})

test('a finding stands at the placeholder', async () => {
  const tests = [testOf('one', { body: pull })]
  const [diagnostic] = await lintOf([mappingOf('one', { message: 'PR {{nmber}}' })], { tests })
  assert.equal(diagnostic?.place?.text, '    message: PR {{nmber}}')
  assert.equal(diagnostic?.place?.column, diagnostic.place.text.indexOf('nmber') + 1)
})

const fine: readonly (readonly [string, Mapping])[] = [
  ['fields that are there', { message: '{{number}} {{pull_request.user.login}} {{commits[1].id}}' }],
  ['our own names', { message: '{{payload.number}} {{headers.x-any}} {{query.y}} {{path}} {{now}}' }],
  [
    'what lies below a null, or in an empty list',
    { message: '{{pull_request.milestone.title}} {{pull_request.labels[0].name}}' },
  ],
  [
    'the turns of a loop',
    { message: '{{#each commits}}{{id}} {{author.name}} {{@index}} {{../number}}{{/each}}' },
  ],
  ['the parameters of a loop', { message: '{{#each commits as |commit at|}}{{commit.id}} {{at}}{{/each}}' }],
  [
    'loops in loops',
    { message: '{{#each commits}}{{#each files}}{{this}} {{../id}} {{@root.number}}{{/each}}{{/each}}' },
  ],
  [
    'a block with another value',
    { message: '{{#with pull_request}}{{title}} {{user.login}} {{../number}}{{/with}}' },
  ],
  [
    'what a helper is given',
    { message: '{{truncate (default pull_request.title "none") 20}} {{#if number}}x{{/if}}' },
  ],
  [
    'a field that the author expects to be absent at times',
    {
      message:
        '{{default closed_at "open"}} {{#if merger}}{{merger}} {{merger.login}}{{else if team.slug}}{{team.slug}}{{/if}}',
    },
  ],
  [
    'what a negation guards',
    { message: '{{#unless (or merger team)}}none{{else}}{{merger}} {{team.slug}}{{/unless}}' },
  ],
  ['lengths', { message: '{{commits.length}} {{pull_request.title.length}}' }],
  ['values of the mapping', { vars: { who: 'pull_request.user.login' }, message: '{{vars.who}}' }],
  ['below a computed value', { vars: { first: '$sort(commits)[0]' }, message: '{{vars.first.any}}' }],
  ['the elements of forEach', { forEach: 'commits', message: '{{item.id}} {{item.author.name}} {{index}}' }],
  ['the elements of a computed list', { forEach: '$distinct(commits)', message: '{{item.anything}}' }],
  ['expressions', { message: '{% $string(number) & commits[0].id & commits.author.name %}' }],
  [
    'what an expression computes',
    { message: '{% commits[odd].name & $map(commits, function($c) { $c.odd }) %}' },
  ],
  ['whether a field exists', { match: { path: 'test', when: '$not($exists(merged_by.login))' } }],
  ['patterns', { match: { path: 'test', body: { action: ['opened', 'closed'], commits: { id: 'c1' } } } }],
  ['a field that is not to be there', { match: { path: 'test', body: { merged_by: { exists: false } } } }],
]

for (const [name, mapping] of fine) {
  test(`known: ${name}`, async () => assert.deepEqual(await found(mapping), []))
}

const wrong: readonly (readonly [string, Mapping, readonly string[]])[] = [
  [
    'in a loop',
    { message: '{{#each commits}}{{idd}} {{number}}{{/each}}' },
    ['commits.idd Did you mean commits.id?', 'commits.number Did you mean number?'],
  ],
  ['out of a loop', { message: '{{#each commits}}{{../nmber}}{{/each}}' }, ['nmber Did you mean number?']],
  [
    'by a parameter',
    { message: '{{#each commits as |commit|}}{{commit.idd}}{{/each}}' },
    ['commits.idd Did you mean commits.id?'],
  ],
  [
    'in a helper',
    { message: '{{truncate pull_request.titel 20}}' },
    ['pull_request.titel Did you mean pull_request.title?'],
  ],
  [
    'in an expression',
    { message: '{% "PR " & pull_request.titel %}' },
    ['pull_request.titel Did you mean pull_request.title?'],
  ],
  [
    'in forEach and its items',
    { forEach: 'commits', message: '{{item.idd}}' },
    ['commits.idd Did you mean commits.id?'],
  ],
  [
    'of the mapping itself',
    { vars: { who: 'number' }, message: '{{vars.whom}}' },
    ['vars.whom Did you mean vars.who?'],
  ],
  [
    'below a value of the mapping',
    { vars: { pr: 'pull_request' }, message: '{{vars.pr.titel}} {{vars.pr.title}}' },
    ['pull_request.titel Did you mean pull_request.title?'],
  ],
  [
    'that the author expects to be absent at times, but whose name is nearly that of another',
    { message: '{{#if pull_request.titel}}{{pull_request.titel}}{{/if}} {{default nmber "?"}}' },
    ['pull_request.titel Did you mean pull_request.title?', 'nmber Did you mean number?'],
  ],
  [
    'outside of the block that asks for it',
    { message: '{{#if merger}}x{{else}}{{merger.login}}{{/if}} {{merger.name}}' },
    ['merger.login Did you mean pull_request.user.login?', 'merger.name Did you mean commits.author.name?'],
  ],
  ['of a path without parameters', { message: '{{params.repo}}' }, ['params.repo There are no params here.']],
  [
    'in a pattern',
    { match: { path: 'test', body: { pull_requst: { draft: false } } } },
    ['pull_requst.draft Did you mean pull_request?'],
  ],
  ['in a condition', { match: { path: 'test', when: 'acton = "opened"' } }, ['acton Did you mean action?']],
]

for (const [name, mapping, expected] of wrong) {
  test(`unknown ${name}`, async () => assert.deepEqual(await found(mapping), expected))
}

test('without a sample that matches the mapping, its fields are not judged', async () => {
  const closed = { path: 'test', body: { action: 'closed' } }
  assert.deepEqual(await found({ match: closed, message: '{{merged_by.login}}' }), [])
  const when = { path: 'test', when: 'action = "closed"' }
  assert.deepEqual(await found({ match: when, message: '{{merged_by.login}}' }), [])
  const issues = { path: 'test', headers: { 'x-github-event': 'issues' } }
  assert.deepEqual(await found({ match: issues, message: '{{issue.title}}' }), [])
  const other = { path: 'other' }
  assert.deepEqual(await found({ match: other, message: '{{issue.title}}' }), [])
})

test('a field that any sample of the endpoint has is known', async () => {
  const tests = [testOf('one', { body: pull }), testOf('one', { body: { merged_by: { login: 'bob' } } })]
  const mapping = mappingOf('one', { match: { path: 'test' }, message: '{{merged_by.login}} {{title}}' })
  const diagnostics = await lintOf([mapping], { tests })
  assert.deepEqual(
    diagnostics.map(({ hint }) => hint),
    ['Did you mean pull_request.title?'],
  )
})

test('samples without headers count as having those that a mapping asks for', async () => {
  const mapping = mappingOf('one', { match: { path: 'test', headers: { h: 'x' } }, message: '{{nmber}}' })
  const ofFile = await lintOf([mapping], { samples: [{ endpoint: 'test', payload: pull }] })
  assert.equal(ofFile.length, 1)
  const other = await lintOf([mapping], {
    samples: [{ endpoint: 'test', headers: { h: 'y' }, payload: pull }],
  })
  assert.deepEqual(
    other.map(({ code }) => code),
    ['UNMET_CLAUSE'],
    'samples of other headers say nothing about the field',
  )
})

test('payloads of any shape are samples', async () => {
  for (const body of [null, 'text', 7, [], [[{ number: 1 }]], { __proto__: null, number: 1 }])
    await found({ message: '{{number}} {{#each this}}{{x}}{{/each}} {{payload.[0].a}}' }, body)
})
