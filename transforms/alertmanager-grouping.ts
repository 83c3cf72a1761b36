/** Sorts a notification of Alertmanager: an agent for critical alerts, wakes for the others, and a quiet wake for resolved ones. */

import { defineTransform, prompt, type TransformContext } from '@reveille/engine/transform'

/** Version 4 of the webhook: https://prometheus.io/docs/alerting/latest/configuration/#webhook_config */
interface Notification {
  readonly groupKey?: string
  readonly externalURL?: string
  readonly alerts?: readonly Alert[]
  /** Number of alerts that the receiver's `max_alerts` left out. */
  readonly truncatedAlerts?: number
}

interface Alert {
  readonly status: 'firing' | 'resolved'
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly startsAt?: string
}

type Level = 'critical' | 'warning' | 'other'

/** The severity of an alert as one of three levels, since rules may use any name. */
const levels = new Map<string, Level>([
  ['critical', 'critical'],
  ['page', 'critical'],
  ['error', 'critical'],
  ['warning', 'warning'],
])
/** The alerts that fire on purpose. */
const ignored = new Set(['Watchdog', 'DeadMansSwitch', 'InfoInhibitor'])
const maxAlerts = 20

export default defineTransform(({ payload }: TransformContext<Notification>) => {
  const alerts = (payload.alerts ?? []).filter(({ labels }) => !ignored.has(labels?.alertname ?? ''))
  const firing = Object.groupBy(
    alerts.filter(({ status }) => status === 'firing'),
    ({ labels }) => levels.get(labels?.severity ?? '') ?? 'other',
  )
  const resolved = alerts.filter(({ status }) => status === 'resolved')
  return [
    firing.critical ? look(firing.critical, payload) : null,
    firing.warning
      ? { ...wake, mode: 'now', text: prompt`Firing, with a warning: ${list(firing.warning)}` }
      : null,
    firing.other ? { ...wake, text: prompt`Firing, without hurry: ${list(firing.other)}` } : null,
    resolved.length > 0 ? { ...wake, text: prompt`It is over: ${list(resolved)}` } : null,
  ]
})

const wake = { action: 'wake', mode: 'next-heartbeat' } as const

/** All actions of one group share a conversation. */
function look(alerts: readonly Alert[], { groupKey, externalURL, truncatedAlerts }: Notification) {
  return {
    action: 'agent',
    name: 'Alertmanager',
    sessionKey: groupKey === undefined ? undefined : `hook:alertmanager:${groupKey.slice(0, 900)}`,
    message: prompt.join([
      prompt`Critical alerts are firing: ${alerts.length}.`,
      list(alerts),
      truncatedAlerts ? prompt`Alertmanager left out ${truncatedAlerts} more.` : null,
      externalURL === undefined ? null : prompt`Alertmanager: ${externalURL}`,
      '',
      prompt`Say what they have in common, what is probably the cause and what only its consequence, and what to check first. Say clearly what you know and what you assume. Change nothing, and silence nothing.`,
    ]),
  } as const
}

/** One text, so that a model reads one block of data and not a block for each label. */
function list(alerts: readonly Alert[]): string {
  const lines = alerts.slice(0, maxAlerts).map(({ labels, annotations, startsAt }) => {
    const { alertname = 'an alert', severity, ...others } = labels ?? {}
    const where = Object.entries(others).map(([name, value]) => `${name}=${value}`)
    const what = annotations?.summary ?? annotations?.description
    return [
      `- ${alertname}${where.length > 0 ? ` (${where.join(', ')})` : ''}`,
      ...(severity ? [severity] : []),
      ...(startsAt ? [`since ${startsAt}`] : []),
      ...(what ? [what] : []),
    ].join('; ')
  })
  const more = alerts.length - lines.length
  return [...lines, ...(more > 0 ? [`and ${more} more`] : [])].join('\n')
}
