/** Owns what is configured of an OpenClaw gateway, and the addresses that follow from it. */

/** As `config.schema.json` lets it through, its defaults filled in. */
export interface OpenClawConfig {
  readonly url: string
  readonly token: string
  readonly hooksPath: string
  readonly sessionKey: 'pass' | 'omit'
  /** `30s` */
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
