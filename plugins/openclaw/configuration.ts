/** Defines the configuration of an OpenClaw gateway, and reads addresses and times from it. */

/** A configuration that `config.schema.json` has accepted, with its defaults filled in. */
export interface OpenClawConfig {
  readonly url: string
  readonly token: string
  readonly hooksPath: string
  readonly sessionKey: 'pass' | 'omit'
  /** A duration such as `30s`. */
  readonly timeout: string
}

export type Hook = 'agent' | 'wake'

export function addressOf({ url, hooksPath }: OpenClawConfig, hook: Hook): string {
  return `${url.replace(/\/+$/, '')}${hooksPath}/${hook}`
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 }

export function timeoutMsOf({ timeout }: OpenClawConfig): number {
  const [, amount, unit = ''] = /^(\d+)(\D+)$/.exec(timeout) ?? []
  return Number(amount) * (units[unit] ?? Number.NaN)
}
