/** Has a provider send a test to the webhook that it registered, and finds out whether the gateway took it. */

import type { Registrar } from '@reveille/kit'
import type { GatewayView } from '../doctor/gateway-view.ts'
import type { Connected, Task } from './task.ts'

/** The way that is tested, and the gateway that it should reach. */
interface Way extends Connected, Pick<Task, 'steps' | 'io'> {
  readonly gateway: GatewayView
  /** `wait`: how long the ping is waited for, in seconds. */
  readonly options: { readonly wait?: number }
}

const defaultWaitSeconds = 30
/** Milliseconds between questions to the provider about the ping. */
const pollMs = 1000

interface Arrival {
  readonly outcome: 'proven' | 'failed' | 'unknown'
  readonly next: readonly string[]
}

/** Has the provider send a test, and asks it what the gateway answered. */
export async function proveArrival(
  registrar: Registrar,
  id: string,
  address: string,
  way: Way,
): Promise<Arrival> {
  const { gateway, options, name, setup, steps, io } = way
  const { title } = setup
  const again = `\`reveille connect ${name}\``
  const look = `See what comes: \`reveille tail\``
  if ((await gateway.reach()).kind !== 'gateway') {
    steps.warn(`No gateway answers at ${gateway.address}, so that the way from ${title} to it was not tried.`)
    return {
      outcome: 'unknown',
      next: [`Start it: \`reveille start\``, `Then try the way: ${again}`],
    }
  }
  const seconds = options.wait ?? defaultWaitSeconds
  if (registrar.ping === undefined || seconds === 0)
    return { outcome: 'unknown', next: [...(setup.howToTry === undefined ? [] : [setup.howToTry]), look] }
  const began = io.now()
  const isTimeLeft = async () => {
    await io.pause(pollMs)
    return io.now() < began + seconds * 1000
  }
  let ping = await registrar.ping(id, isTimeLeft)
  // A gateway that watches its files may not have read the secret yet.
  while (ping?.status === 401 && (await isTimeLeft())) ping = await registrar.ping(id, isTimeLeft)
  if (ping === undefined || ping.status < 200 || ping.status >= 300) {
    steps.warn(whyNoPing(ping, title, address, seconds))
    return { outcome: 'failed', next: [`Try it again: ${again}`] }
  }
  const detail = `${title} pinged ${address}, and the gateway took it.`
  steps.report({ step: 'ping', outcome: 'done', detail })
  return { outcome: 'proven', next: [look] }
}

function whyNoPing(
  ping: { readonly status: number; readonly statusText: string } | undefined,
  title: string,
  address: string,
  seconds: number,
): string {
  if (ping === undefined) return `${title} has not said within ${seconds} s how its ping to ${address} went.`
  const { status, statusText } = ping
  if (status === 401)
    return `The gateway refused the ping (401): it does not know the secret yet, or another gateway answers at ${address}.`
  if (status === 404)
    return `The ping met nothing at ${address} (404): the address leads elsewhere, or hooks are not enabled.`
  const what = statusText === '' ? `${status}` : `${status}, ${statusText}`
  return `${title} could not deliver its ping to ${address} (${what}): does that address lead to this gateway, and does it run?`
}
