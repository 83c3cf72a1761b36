import assert from 'node:assert/strict'
import { test } from 'node:test'
import { octokitSamples, recordedSamples } from '../../../test/sample-data.ts'
import { resultOf } from '../../cases/fixture.ts'
import { type Fixture, requestOf, snapshotOf } from '../../compile/fixture.ts'
import type { Decision } from '../model/decision.ts'

async function resolve(bots: string[], payload: unknown, endpoint = 'test'): Promise<Decision> {
  return snapshotOf([{ message: 'x' }], { endpoints: { test: { bots } } }).resolve(
    requestOf(payload, { endpoint }),
  )
}

const isIgnored = async (bots: string[], payload: unknown) =>
  (await resolve(bots, payload)).outcome === 'ignored'

test('an event of a listed actor is ignored, and the reason names actor and policy', async () => {
  assert.deepEqual(await resolve(['*[bot]'], { sender: { login: 'Dependabot[bot]' } }), {
    outcome: 'ignored',
    reason: 'the actor "Dependabot[bot]" is listed in endpoints.test.bots',
  })
  assert.equal((await resolve(['ada'], { sender: { login: 'ada' } }, 'other')).outcome, 'accepted')
})

test('the actor is found where senders write it', async () => {
  const bodies: unknown[] = [
    { sender: { login: 'ci-bot' } },
    { sender: { username: 'ci-bot', login: '' } },
    { user_username: 'ci-bot', user_name: 'CI' },
    { user: { username: 'x', name: 'CI-Bot' } },
    { user: { displayName: 'ci-bot' } },
    { actor: { nickname: 'x', display_name: 'ci-bot' } },
    { actor: { name: 'ci-bot' } },
    { pusher: { name: 'ci-bot' } },
    { author: { username: 'ci-bot' } },
    { author: 'ci-bot' },
    { comment: { updateAuthor: { name: 'ci-bot' } } },
    { event: { user: 'ci-bot' } },
    { event: { bot_id: 'ci-bot' } },
    { event: { subtype: 'message_changed', message: { bot_id: 'ci-bot' } } },
    { event: { agent: { summary: 'ci-bot' } } },
    { message: { from: { username: 'ci-bot' } } },
    { member: { user: { username: 'ci-bot' } } },
    { user_name: 'ci-bot' },
  ]
  for (const body of bodies) assert.ok(await isIgnored(['ci-bot'], body), JSON.stringify(body))
})

test('a name in another place, or a value that is not a name, is no actor', async () => {
  const bodies: unknown[] = [
    {},
    [],
    [{ sender: { login: 'ci-bot' } }],
    'null',
    '"ci-bot"',
    { pull_request: { user: { login: 'ci-bot' } }, sender: { login: 'ada' } },
    { comment: { author: { name: 'ci-bot' } }, user: { name: 'ada' } },
    { sender: ['ci-bot'] },
    { sender: { login: 7, id: 7 } },
    { sender: { login: null } },
  ]
  for (const body of bodies) assert.ok(!(await isIgnored(['ci-bot', '7', '0'], body)), JSON.stringify(body))
  assert.ok(!(await isIgnored(['*'], { sender: {} })))
  assert.ok(!(await isIgnored(['constructor', 'object'], { sender: {} })))
  assert.ok(!(await isIgnored(['*'], { sender: { login: 'x'.repeat(1000) } })))
})

test('a long or strange name is shown on one line', async () => {
  const decision = await resolve(['*'], { sender: { login: `a\n"\u0000${'x'.repeat(200)}` } })
  assert.ok(decision.outcome === 'ignored')
  assert.match(decision.reason, /^the actor "a\\n\\"\\u0000x{96}…" is listed/)
})

test('the policy with the more exact name lists the bots', async () => {
  const endpoints: Fixture['endpoints'] = { 'git/:repo': { bots: ['a', 'b'] }, 'git/own': { bots: ['c'] } }
  const snapshot = snapshotOf([{ message: 'x' }], { endpoints })
  const reasonAt = async (endpoint: string, login: string) => {
    const decision = await snapshot.resolve(requestOf({ sender: { login } }, { endpoint }))
    return decision.outcome === 'ignored' ? decision.reason : decision.outcome
  }
  assert.equal(await reasonAt('git/other', 'a'), 'the actor "a" is listed in endpoints["git/:repo"].bots')
  assert.equal(await reasonAt('git/own', 'a'), 'accepted')
  assert.match(await reasonAt('git/own', 'c'), /endpoints\["git\/own"\]\.bots$/)
})

test('for a request of a bot no mapping is tried, and explain says so', async () => {
  const snapshot = snapshotOf([{ id: 'a', message: 'x' }], {
    endpoints: { test: { bots: ['ada'] } },
    disabled: [{ id: 'off', line: 2, message: 'x' }],
  })
  const { decision, candidates, actions } = await snapshot.explain(requestOf({ sender: { login: 'ada' } }))
  assert.equal(decision.outcome, 'ignored')
  assert.deepEqual(
    candidates.map(({ mapping, verdict }) => [mapping, verdict]),
    [
      ['a', 'not-reached'],
      ['off', 'disabled'],
    ],
  )
  assert.deepEqual(actions, [])
  const asked = await snapshot.explain(requestOf({ sender: { login: 'bob' } }))
  assert.equal(asked.candidates[0]?.verdict, 'matched')
})

test('a test whose request comes from a bot reports that reason, and no clause of a mapping', async () => {
  const snapshot = snapshotOf([{ id: 'a', message: 'x' }], { endpoints: { test: { bots: ['ada'] } } })
  const body = { sender: { login: 'ada' } }
  const { observed, unmatched } = await resultOf({ message: 'x' }, { snapshot, body })
  assert.deepEqual([observed?.reason?.startsWith('the actor'), unmatched], [true, []])
  const named = await resultOf({ mapping: 'a' }, { snapshot, body })
  assert.equal(named.unmatched[0]?.reason, 'was not asked')
})

/** Maps recorded bodies to their actor. */
const recorded: Readonly<Record<string, string>> = {
  'bitbucket/pullrequest.created.json': 'Hookdeck Write',
  'bitbucket/repo.commit_status_created.json': 'emmap1',
  'discord/interaction.application-command.json': 'mason',
  'gitlab/issue.json': 'hookdeckwrite',
  'gitlab/pipeline.json': 'user1',
  'gitlab/push.json': 'hookdeckwrite',
  'jira/comment_created.json': 'admin',
  'jira/issue_updated.resolved.json': 'Test User',
  'linear/reaction.create.json': 'Priya Nair',
  'pagerduty/incident.acknowledged.json': 'Jamie Chen',
  'sentry/issue.created.json': 'Sentry',
  'slack/app_mention.json': 'U061F7AUR',
  'slack/message_changed.json': 'U061F7AUR',
  'slack/slash-command.form': 'Steve',
  'telegram/callback_query.json': 'priyanair',
  'telegram/message.json': 'priyanair',
}

for (const [name, actor] of Object.entries(recorded)) {
  const sample = recordedSamples(name.split('/')[0] ?? '')?.find((each) => each.name === name)
  const skip = sample ? false : `${name} is not at hand`
  test(`the actor of ${name} is found, and no other`, { skip }, async () => {
    const payload = payloadOf(sample?.body ?? '', name)
    assert.ok(await isIgnored([actor.toUpperCase()], payload))
    assert.ok(!(await isIgnored(['somebody-else'], payload)))
  })
}

test('the sender of every example of GitHub is found', async () => {
  const samples = octokitSamples()
  const bodies = [...samples, ...(recordedSamples('github') ?? [])].map(({ body }) => JSON.parse(body))
  const sent = bodies.filter(({ sender }) => sender?.login !== undefined)
  assert.ok(sent.length > 200)
  const listing = (bots: string[]) => snapshotOf([], { endpoints: { test: { bots } } })
  const [all, none] = [
    listing([...new Set(sent.map(({ sender }) => sender.login))]),
    listing(['somebody-else']),
  ]
  for (const body of sent) {
    const decision = await all.resolve(requestOf(body))
    assert.ok(decision.outcome === 'ignored')
    assert.ok(decision.reason.startsWith(`the actor ${JSON.stringify(body.sender.login)} is listed`))
    const other = await none.resolve(requestOf(body))
    assert.ok(other.outcome === 'ignored' && other.reason.includes('has no mappings'))
  }
})

function payloadOf(body: string, name: string): unknown {
  return name.endsWith('.form') ? Object.fromEntries(new URLSearchParams(body)) : JSON.parse(body)
}
