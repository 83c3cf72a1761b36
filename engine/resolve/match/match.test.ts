import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resultOf } from '../../cases/fixture.ts'
import { testDecisions } from '../../compile/decision-fixture.ts'
import { requestOf, snapshotOf } from '../../compile/fixture.ts'

testDecisions(
  String.raw`
# no catch-all takes a wake or an agent body
{ id: any } ⇒ { text: x } @ { endpoint: wake } ⇒ { kind: wake, mapping: null }

# only the result true of an expression matches
{ match: { when: n > 3 } } ⇒ { n: 5 } ¦ { match: { when: '{% n > 3 %}' } } ⇒ { n: 5 } ⇒ { mapping: first }
{ match: { when: n } } ⇒ { n: 5 } ¦ { match: { when: s } } ⇒ { s: 'true' } ¦ { match: { when: list } } ⇒ { list: [true, true] } ¦ { match: { when: absent } } ⇒ {} ¦ { match: { when: absent = 5 } } ⇒ {} ¦ { match: { when: draft } } ⇒ { draft: false } ¦ { match: { when: $not } } ⇒ {} ⇒ { ignored: /no mapping/ }

# an expression sees the same names as templates
{ match: { when: 'headers.event = "push" and path = "test" and query.q = "1" and payload.path = "mine" and a = 1 and now = "2026-01-02T03:04:05.000Z"' } } ⇒ { a: 1, path: mine } @ { headers: { event: push }, query: { q: '1' } } ¦ { match: { when: 'payload[0].a = 1' } } ⇒ [{ a: 1 }] ⇒ { mapping: first }

# an expression that fails does not match, and later mappings are tried
[{ id: bad, match: { when: a + b > 1 } }, { id: good }] ⇒ { a: 1, b: x } ⇒ { mapping: good }

# if nothing matches, the reason says so and why clauses could not be decided, without any value
[{ id: a, match: { path: test, source: x } }, { id: b, match: { when: $number(secret) > 1 } }, { id: c, match: { when: 'false' } }] ⇒ { secret: hush } ⇒ { ignored: '/^no mapping of endpoint "test" matched \(3 tried\); match\.when of "b" failed: (?!.*hush|.*"c").*D3030/' }
{ id: a, match: { body: { text: { pattern: x } } } } ⇒ { text: ${'hush'.repeat(70_000)} } ⇒ { ignored: '/^no mapping of endpoint "test" matched \(1 tried\); match\.body\.text\.pattern of "a" failed: a text of more than 262144 characters is not searched$/' }

# expressions and templates see the values that the path took from the endpoint’s name
[{ id: a, match: { path: 'git/:owner/:repo', when: params.owner = "ann" }, message: '{{params.repo}}' }, { id: b, match: { path: 'git/:who/:what' }, message: '{{params.what}} of {{params.who}}' }] ⇒ {} @ { endpoint: git/ann/lamp } ⇒ { message: lamp }
[{ id: a, match: { path: 'git/:owner/:repo', when: params.owner = "ann" }, message: '{{params.repo}}' }, { id: b, match: { path: 'git/:who/:what' }, message: '{{params.what}} of {{params.who}}' }] ⇒ {} @ { endpoint: git/bob/lamp } ⇒ { message: lamp of bob }
[{ id: a, match: { path: 'git/:owner/:repo' } }] ⇒ {} @ { endpoint: git/bob } ⇒ { ignored: /git/ }

# an event of a listed actor is ignored, and the reason names actor and policy @ { endpoints: { test: { bots: ['*[bot]'] } } }
{ sender: { login: 'Dependabot[bot]' } } ⇒ { ignored: 'the actor "Dependabot[bot]" is listed in endpoints.test.bots' }
{ sender: { login: 'Dependabot[bot]' } } @ { endpoint: other } ⇒ { mapping: first }

# the policy with the more exact name lists the bots @ { endpoints: { 'git/:repo': { bots: [a, b] }, git/own: { bots: [c] } } }
{ sender: { login: a } } @ { endpoint: git/other } ⇒ { ignored: 'the actor "a" is listed in endpoints["git/:repo"].bots' }
{ sender: { login: a } } @ { endpoint: git/own } ⇒ { mapping: first }
{ sender: { login: c } } @ { endpoint: git/own } ⇒ { ignored: '/endpoints\["git\/own"\]\.bots$/' }

# a long or strange name is shown on one line @ { endpoints: { test: { bots: ['*'] } } }
{ sender: { login: "a\n\"\0${'x'.repeat(200)}" } } ⇒ { ignored: '/^the actor "a\\n\\"\\u0000x{96}…" is listed/' }
{ sender: { login: ${'x'.repeat(1000)} } } ⇒ { mapping: first }
{ sender: {} } ⇒ { mapping: first }

# the actor is found where senders write it @ { endpoints: { test: { bots: [CI-bot, '7', '0', constructor, object] } } }
{ sender: { login: ci-bot } } ¦ { sender: { username: ci-bot, login: '' } } ¦ { pusher: { name: ci-bot } } ¦ { author: { username: ci-bot } } ¦ { author: ci-bot } ¦ { event: { bot_id: ci-bot } } ¦ { event: { subtype: message_changed, message: { bot_id: ci-bot } } } ⇒ { ignored: /actor/ }

# a name in another place, or a value that is not a name, is no actor @ { endpoints: { test: { bots: [ci-bot, '7', '0', constructor, object] } } }
{} ¦ [] ¦ [{ sender: { login: ci-bot } }] ¦ null ¦ "ci-bot" ¦ { pull_request: { user: { login: ci-bot } }, sender: { login: ada } } ¦ { comment: { author: { name: ci-bot } }, user: { name: ada } } ¦ { sender: [ci-bot] } ¦ { sender: { login: 7, id: 7 } } ¦ { sender: { login: null } } ¦ { sender: {} } ⇒ { mapping: first }
`,
  { message: 'x' },
)

test('an endpoint with a policy and no mappings ignores every request', async () => {
  const snapshot = await snapshotOf([], { endpoints: { quiet: {} } })
  assert.equal(snapshot.covers('quiet'), true)
  const decision = await snapshot.resolve(requestOf({}, { endpoint: 'quiet' }))
  assert.deepEqual(decision, { outcome: 'ignored', reason: 'endpoint "quiet" has no mappings' })
})

test('for a request of a bot no mapping is tried, and explain and tests say so', async () => {
  const snapshot = await snapshotOf([{ id: 'a', message: 'x' }], {
    endpoints: { test: { bots: ['ada'] } },
    disabled: [{ id: 'off', line: 2, message: 'x' }],
  })
  const body = { sender: { login: 'ada' } }
  const { decision, candidates, actions } = await snapshot.explain(requestOf(body))
  const verdicts = candidates.map(({ mapping, verdict }) => `${mapping} ${verdict}`)
  assert.deepEqual([decision.outcome, verdicts, actions], ['ignored', ['a not-reached', 'off disabled'], []])
  const asked = await snapshot.explain(requestOf({ sender: { login: 'bob' } }))
  assert.equal(asked.candidates[0]?.verdict, 'matched')
  const { observed, unmatched } = await resultOf({ message: 'x' }, { snapshot, body })
  assert.deepEqual([observed?.reason?.startsWith('the actor'), unmatched], [true, []])
  const named = await resultOf({ mapping: 'a' }, { snapshot, body })
  assert.equal(named.unmatched[0]?.reason, 'was not asked')
})

/** Bodies in the shapes of their senders, with their actors. */
const actors = `
Bitbucket: {"actor":{"type":"user","display_name":"Ada Lock","nickname":"ada"},"pullrequest":{"author":{"nickname":"bo"}}} ⇒ Ada Lock
Bitbucket: {"actor":{"nickname":"ada"},"commit_status":{"name":"build"}} ⇒ ada
Discord: {"type":2,"member":{"user":{"id":"1","username":"ada"}},"data":{"name":"tide"}} ⇒ ada
Discord: {"type":2,"user":{"id":"1","username":"ada"},"data":{"name":"tide"}} ⇒ ada
GitLab: {"object_kind":"issue","user":{"name":"Ada Lock","username":"ada"},"assignees":[{"username":"bo"}]} ⇒ ada
GitLab: {"object_kind":"push","user_name":"Ada Lock","user_username":"ada","commits":[{"author":{"name":"Bo"}}]} ⇒ ada
Jira: {"webhookEvent":"comment_created","comment":{"author":{"name":"bo"},"updateAuthor":{"name":"ada"}}} ⇒ ada
Jira: {"webhookEvent":"jira:issue_updated","user":{"displayName":"Ada Lock"},"issue":{"fields":{"reporter":{"name":"bo"}}}} ⇒ Ada Lock
Linear: {"type":"Reaction","actor":{"type":"user","name":"Ada Lock"},"data":{"user":{"name":"Bo"}}} ⇒ Ada Lock
PagerDuty: {"event":{"agent":{"summary":"Ada Lock"},"data":{"assignees":[{"summary":"Bo"}]}}} ⇒ Ada Lock
Sentry: {"action":"created","actor":{"id":"sentry","name":"Sentry","type":"application"}} ⇒ Sentry
Slack: {"type":"event_callback","event":{"type":"app_mention","user":"U061F7AUR","text":"<@U0LAN0Z89>"}} ⇒ U061F7AUR
Slack: {"type":"event_callback","event":{"subtype":"message_changed","message":{"user":"U061F7AUR"}}} ⇒ U061F7AUR
Slack: {"command":"/tide","user_id":"U2147483697","user_name":"ada"} ⇒ ada
Telegram: {"callback_query":{"from":{"username":"ada"},"message":{"from":{"username":"our_bot"}}}} ⇒ ada
Telegram: {"message":{"from":{"id":1,"username":"ada"},"chat":{"title":"Harbour"}}} ⇒ ada`

for (const [, sender, body = '', actor = ''] of actors.matchAll(/^(\w+): (.+) ⇒ (.+)$/gm))
  test(`${actor} is the actor of ${body} from ${sender}, and no other`, async () => {
    const outcomeWith = async (bot: string) => {
      const snapshot = await snapshotOf([{ message: 'x' }], { endpoints: { test: { bots: [bot] } } })
      return (await snapshot.resolve(requestOf(JSON.parse(body)))).outcome
    }
    const reported = [await outcomeWith(actor.toUpperCase()), await outcomeWith('bo')]
    assert.deepEqual(reported, ['ignored', 'accepted'])
  })
