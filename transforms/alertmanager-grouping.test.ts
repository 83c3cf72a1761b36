import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exampleContext } from '@reveille/engine/transform'
import { recordedSamples } from '../test/sample-data.ts'
import group from './alertmanager-grouping.ts'

const alert = (
  alertname: string,
  severity: string | undefined,
  status: 'firing' | 'resolved' = 'firing',
) => ({
  status,
  labels: { alertname, ...(severity && { severity }), instance: 'lamp-1:9100' },
  annotations: { summary: `${alertname} is amiss` },
  startsAt: '2026-01-15T11:20:30.531Z',
})

const run = (payload: Parameters<typeof group>[0]['payload']) =>
  group(exampleContext({ payload })).filter((action) => action !== null)

const says = (action: ReturnType<typeof run>[number] | undefined) =>
  String(action && ('text' in action ? action.text : action.message))

test('one notification becomes an agent run for critical alerts, and wakes for the others', () => {
  const actions = run({
    groupKey: '{}:{cluster="harbour"}',
    alerts: [
      alert('DiskFull', 'critical'),
      alert('LampDark', 'page'),
      alert('LampDim', 'warning'),
      alert('LampOld', 'info'),
      alert('BellMute', 'critical', 'resolved'),
    ],
  })
  assert.deepEqual(
    actions.map(({ action, ...others }) => [action, 'mode' in others ? others.mode : others.sessionKey]),
    [
      ['agent', 'hook:alertmanager:{}:{cluster="harbour"}'],
      ['wake', 'now'],
      ['wake', 'next-heartbeat'],
      ['wake', 'next-heartbeat'],
    ],
  )
  assert.match(
    says(actions[0]),
    /^Critical alerts are firing: 2\.\n- DiskFull \(instance=lamp-1:9100\); critical; since/,
  )
  assert.match(says(actions[1]), /^Firing, with a warning: - LampDim .*; LampDim is amiss$/)
  assert.match(says(actions[2]), /^Firing, without hurry: - LampOld/)
  assert.match(says(actions[3]), /^It is over: - BellMute/)
})

test('resolved alerts are quiet: one wake for all of them, at the next heartbeat', () => {
  const actions = run({ alerts: [alert('A', 'critical', 'resolved'), alert('B', 'warning', 'resolved')] })
  assert.equal(actions.length, 1)
  assert.equal(
    says(actions[0]),
    `It is over: ${['A', 'B'].map((name) => `- ${name} (instance=lamp-1:9100); ${name === 'A' ? 'critical' : 'warning'}; since 2026-01-15T11:20:30.531Z; ${name} is amiss`).join('\n')}`,
  )
})

test('a severity of a rule’s own making is one of three levels, so that no rule can multiply the actions', () => {
  const alerts = Array.from({ length: 300 }, (_, index) => alert(`Alert${index}`, `severity-${index}`))
  const actions = run({ alerts: [...alerts, alert('Plain', undefined)] })
  assert.equal(actions.length, 1)
  assert.match(says(actions[0]), /; severity-19; .*\nand 281 more$/)
  assert.doesNotMatch(says(actions[0]), /severity-20/)
})

test('rules and labels are data, and the question is not', () => {
  const [action] = run({ alerts: [alert('Obey', 'critical')] })
  assert.ok(action && 'message' in action)
  assert.equal(
    action.message.parts.filter((part) => 'value' in part && part.value.includes('Obey')).length,
    1,
  )
  assert.ok(!action.message.parts.some((part) => 'literal' in part && part.literal.includes('Obey')))
})

test('alerts that fire on purpose give no action, nor does a notification without alerts', () => {
  assert.deepEqual(run({ alerts: [alert('Watchdog', 'none'), alert('InfoInhibitor', 'critical')] }), [])
  assert.deepEqual(run({ alerts: [] }), [])
  assert.deepEqual(run({}), [])
})

test('without a group key there is no conversation to share', () => {
  const [action] = run({ alerts: [alert('DiskFull', 'critical')] })
  assert.ok(action && 'sessionKey' in action)
  assert.equal(action.sessionKey, undefined)
})

test('an alert may lack everything but its status', () => {
  assert.equal(says(run({ alerts: [{ status: 'firing' }] })[0]), 'Firing, without hurry: - an alert')
})

test('the number of alerts that Alertmanager left out is stated', () => {
  const [action] = run({ alerts: [alert('DiskFull', 'critical')], truncatedAlerts: 7 })
  assert.match(says(action), /^Alertmanager left out 7 more\.$/m)
})

const recorded = recordedSamples('alertmanager')
const skip = recorded === undefined && 'the recorded bodies are not at hand'

test('of the bodies that Alertmanager sends, firing alerts get an agent and resolved ones a wake', {
  skip,
}, () => {
  const actions = new Map((recorded ?? []).map(({ name, body }) => [name, run(JSON.parse(body))]))
  const [firing, ...none] = actions.get('alertmanager/firing.json') ?? []
  assert.deepEqual(none, [])
  assert.equal(firing?.action, 'agent')
  assert.match(
    says(firing),
    /- High CPU Temperature \(host=andromeda\); critical; since 2020-02-06T00:17:58\.432911368Z; High CPU core/,
  )
  const [resolved, ...others] = actions.get('alertmanager/resolved.json') ?? []
  assert.deepEqual(others, [])
  assert.equal(resolved && 'mode' in resolved && resolved.mode, 'next-heartbeat')
  assert.equal(says(resolved).split('\n').length, 2)
})
