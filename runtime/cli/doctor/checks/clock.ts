/** Checks the clocks, because signatures of many providers are valid for a few minutes only. */

import { type Check, ok, problem, type Result, warning } from '../check.ts'
import { skewOf } from '../gateway-view.ts'
import { NotChecked } from '../not-checked.ts'

/** The least that providers allow is three minutes. */
const problemMs = 120_000
const warningMs = 10_000

/** Any server would do; this one answers everywhere, without a cookie and in a few bytes. */
const timeServer = 'https://www.cloudflare.com/cdn-cgi/trace'
const answerMs = 5_000

export const clockAgainstGateway: Check = {
  name: 'clock-gateway',
  group: 'machine',
  title: 'clock',
  async run(subject) {
    const reach = await subject.gateway().reach()
    if (reach.is !== 'there') throw new NotChecked('GATEWAY_DOWN', 'no gateway answers')
    if (reach.skewMs === undefined)
      throw new NotChecked('GATEWAY_ANSWER', 'the gateway does not send the time')
    return judgeSkew(reach.skewMs, "the gateway's", 'Have both machines keep their time by NTP')
  },
}

/** `isWanted`: the user agreed to a request to a public server. */
export function clockOnline(isWanted: boolean): Check {
  return {
    name: 'clock-online',
    group: 'machine',
    title: 'time',
    async run({ io }, signal) {
      if (!isWanted) throw new NotChecked('NOT_ASKED', '`--online` asks a public server for the time')
      const asked = io.now()
      const response = await io
        .fetch(timeServer, {
          method: 'HEAD',
          signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]),
        })
        .catch(() => undefined)
      const date = Date.parse(response?.headers.get('date') ?? '')
      if (Number.isNaN(date)) throw new NotChecked('OFFLINE', `${new URL(timeServer).host} does not answer`)
      const fix = 'Have this machine keep its time by NTP: `timedatectl set-ntp true`'
      return judgeSkew(skewOf(date, asked, io.now()), `that of ${new URL(timeServer).host}`, fix)
    },
  }
}

export function judgeSkew(skewMs: number, whose: string, fix: string): Result {
  const seconds = Math.round(Math.abs(skewMs) / 1000)
  if (Math.abs(skewMs) < warningMs) return ok(`as ${whose}`)
  const text = `${seconds} s ${skewMs > 0 ? 'behind' : 'ahead of'} ${whose}`
  if (Math.abs(skewMs) < problemMs) return warning('CLOCK_SKEW', text, fix)
  return problem('CLOCK_SKEW', `${text}: signatures that bear a time are refused`, fix)
}
