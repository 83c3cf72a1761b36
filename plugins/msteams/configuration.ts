/** Owns what is configured of a bot in Microsoft Teams. */

import { channelError, checkDefaultTo } from '@reveille/kit'
import { parseTarget, type TeamsTarget } from './target.ts'

/** As `config.schema.json` lets it through, its defaults filled in. */
export interface TeamsConfig {
  readonly appId: string
  readonly appPassword: string
  readonly tenantId: string
  /** The Bot Connector's service URL. */
  readonly baseUrl: string
  readonly authority: string
  readonly defaultTo?: string
}

/** Where multi-tenant bots live. */
const multiTenant = 'botframework.com'

/** @throws PluginError `bad-target` where `defaultTo` is no address of this channel */
export function checkConfiguration({ tenantId, defaultTo }: TeamsConfig): void {
  checkDefaultTo(defaultTo, (to) => targetIn(tenantId, to))
}

/**
 * A person is looked for in a tenant, and a multi-tenant bot has none.
 * @throws PluginError `bad-target`
 */
export function targetIn(tenantId: string, to: string): TeamsTarget {
  const target = parseTarget(to)
  if (target.userId === undefined || tenantId !== multiTenant) return target
  throw channelError(
    'bad-target',
    '`user:` needs `tenantId`, the id of the directory in which that person is.',
  )
}
