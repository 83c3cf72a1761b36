import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import type { Mapping } from '../compile/fixture.ts'
import { testBlocks } from '../config/blocks-fixture.ts'
import { lintOf, mappingOf, testOf } from './fixture.ts'

const pull = {
  action: 'opened',
  number: 7,
  pull_request: { title: 'Fix', draft: false, user: { login: 'ada' }, milestone: null, labels: [] },
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

/** A mapping, as YAML, and behind the arrow what is found in it; nothing, if there is none. */
const cases = `
# a field that no sample has is reported with the nearest one beside it, or elsewhere
{ message: '{{pull_request.titel}} {{full_name}}' } → pull_request.titel Did you mean pull_request.title? → full_name Did you mean repository.full_name?
{ message: '{{#each commits}}{{idd}} {{number}}{{/each}}' } → commits.idd Did you mean commits.id? → commits.number Did you mean number?
{ message: '{{#each commits}}{{../nmber}}{{/each}}' } → nmber Did you mean number?
{ message: '{{#each commits as |commit|}}{{commit.idd}}{{/each}}' } → commits.idd Did you mean commits.id?
{ message: '{{truncate pull_request.titel 20}}' } ¦ { message: '{% "PR " & pull_request.titel %}' } → pull_request.titel Did you mean pull_request.title?
{ forEach: commits, message: '{{item.idd}}' } → commits.idd Did you mean commits.id?
{ vars: { who: number }, message: '{{vars.whom}}' } → vars.whom Did you mean vars.who?
{ vars: { pr: pull_request }, message: '{{vars.pr.titel}} {{vars.pr.title}}' } → pull_request.titel Did you mean pull_request.title?
{ message: '{{#if pull_request.titel}}{{pull_request.titel}}{{/if}} {{default nmber "?"}}' } → pull_request.titel Did you mean pull_request.title? → nmber Did you mean number?
{ message: '{{#if merger}}x{{else}}{{merger.login}}{{/if}} {{merger.name}}' } → merger.login Did you mean pull_request.user.login? → merger.name Did you mean commits.author.name?
{ message: '{{params.repo}}' } → params.repo There are no params here.
{ match: { path: test, body: { pull_requst: { draft: false } } }, message: x } → pull_requst.draft Did you mean pull_request?
{ match: { path: test, when: 'acton = "opened"' }, message: x } → acton Did you mean action?

# a key of a pattern that was meant as a path or as an operator gets a hint
{ match: { path: test, body: { pull_request.user.login: ada } }, message: x } → pull_request.user.login A key with a dot in it is one key. Nest it: pull_request: { user: { login: … } }.
{ match: { path: test, body: { action: { prefx: open } } }, message: x } → action.prefx Did you mean the operator prefix?

# the keys of coalesce and dedupe are read as templates or expressions
{ message: x, coalesce: { key: '{{repository.ful_name}} {{number}}' } } ¦ { message: x, coalesce: { key: repository.ful_name & number } } → repository.ful_name Did you mean repository.full_name?
{ message: x, coalesce: { key: "'repository.ful_name'" } }
{ message: x, dedupe: { enabled: true, key: '{{repository.ful_name}} {{number}}' } } ¦ { message: x, dedupe: { enabled: true, key: repository.ful_name & number } } → repository.ful_name Did you mean repository.full_name?

# fields that are there are known, and those that cannot be judged
{ message: '{{number}} {{pull_request.user.login}} {{commits[1].id}}' } ¦ { message: '{{payload.number}} {{headers.x-any}} {{query.y}} {{path}} {{now}}' }
{ message: '{{pull_request.milestone.title}} {{pull_request.labels[0].name}}' } ¦ { message: '{{#each commits}}{{id}} {{author.name}} {{@index}} {{../number}}{{/each}}' }
{ message: '{{#each commits as |commit at|}}{{commit.id}} {{at}}{{/each}}' } ¦ { message: '{{#each commits}}{{#each files}}{{this}} {{../id}} {{@root.number}}{{/each}}{{/each}}' }
{ message: '{{#with pull_request}}{{title}} {{user.login}} {{../number}}{{/with}}' } ¦ { message: '{{truncate (default pull_request.title "none") 20}} {{#if number}}x{{/if}}' }
{ message: '{{commits.length}} {{pull_request.title.length}}' } ¦ { vars: { who: pull_request.user.login }, message: '{{vars.who}}' } ¦ { vars: { first: '$sort(commits)[0]' }, message: '{{vars.first.any}}' }
{ forEach: commits, message: '{{item.id}} {{item.author.name}} {{index}}' } ¦ { forEach: $distinct(commits), message: '{{item.anything}}' } ¦ { message: '{% $string(number) & commits[0].id & commits.author.name %}' }
{ message: '{% commits[odd].name & $map(commits, function($c) { $c.odd }) %}' } ¦ { match: { path: test, body: { action: [opened, closed], commits: { id: c1 } } }, message: x }

# a field that the author expects to be absent at times is not reported
{ message: '{{default closed_at "open"}} {{#if merger}}{{merger}} {{merger.login}}{{else if team.slug}}{{team.slug}}{{/if}}' } ¦ { message: '{{#unless (or merger team)}}none{{else}}{{merger}} {{team.slug}}{{/unless}}' }
{ match: { path: test, when: $not($exists(merged_by.login)) }, message: x } ¦ { match: { path: test, body: { merged_by: { exists: false } } }, message: x }

# without a sample that matches the mapping, its fields are not judged
{ match: { path: test, body: { action: closed } }, message: '{{merged_by.login}}' } ¦ { match: { path: test, when: 'action = "closed"' }, message: '{{merged_by.login}}' }
{ match: { path: test, headers: { x-github-event: issues } }, message: '{{issue.title}}' } ¦ { match: { path: other }, message: '{{issue.title}}' }
`

testBlocks(cases, async (row) => {
  const [mapping = '', ...expected] = row.split(' → ')
  assert.deepEqual(await found(parse(mapping) as Mapping), expected, row)
})

test('item, index, params and vars are fields of the payload where the mapping does not define them', async () => {
  const body = { item: { title: 'Launch' }, index: 4, params: { a: 1 }, vars: { b: 2 } }
  const message = '{{item.title}} {{index}} {{params.a}} {{vars.b}} {{item.titel}}'
  assert.deepEqual(await found({ message }, body), ['item.titel Did you mean item.title?'])
})

test('a finding points at the placeholder', async () => {
  const tests = [testOf('one', { body: pull })]
  const [diagnostic] = await lintOf([mappingOf('one', { message: 'PR {{nmber}}' })], { tests })
  assert.equal(diagnostic?.place?.text, '    message: PR {{nmber}}')
  assert.equal(diagnostic?.place?.column, diagnostic.place.text.indexOf('nmber') + 1)
})

test('a field that any sample of the endpoint has is known', async () => {
  const tests = [testOf('one', { body: pull }), testOf('one', { body: { merged_by: { login: 'bob' } } })]
  const mapping = mappingOf('one', { match: { path: 'test' }, message: '{{merged_by.login}} {{title}}' })
  const diagnostics = await lintOf([mapping], { tests })
  assert.equal(diagnostics.map(({ hint }) => hint).join(), 'Did you mean pull_request.title?')
})

test('samples without headers count as having those that a mapping asks for', async () => {
  const mapping = mappingOf('one', { match: { path: 'test', headers: { h: 'x' } }, message: '{{nmber}}' })
  const ofFile = await lintOf([mapping], { samples: [{ endpoint: 'test', payload: pull }] })
  assert.equal(ofFile.length, 1)
  const other = await lintOf([mapping], {
    samples: [{ endpoint: 'test', headers: { h: 'y' }, payload: pull }],
  })
  const why = 'samples of other headers say nothing about the field'
  assert.deepEqual(other, [], why)
})

test('payloads of any shape are samples', async () => {
  for (const body of [null, 'text', 7, [], [[{ number: 1 }]], { __proto__: null, number: 1 }])
    await found({ message: '{{number}} {{#each this}}{{x}}{{/each}} {{payload.[0].a}}' }, body)
})
