/** The table of all routes of the API, by the names that the OpenAPI document gives them. */

import { accessRoutes } from './access.ts'
import type { RouteDeclaration } from './declaration.ts'
import { dryRunRoutes } from './dry-runs.ts'
import { gatewayRoutes } from './gateway.ts'
import { issueRoutes } from './issues.ts'
import { replayRoutes } from './replays.ts'
import { requestRoutes } from './requests.ts'
import { closedObject, type Schema } from './schema.ts'
import { streamRoutes } from './stream.ts'
import { workRoutes } from './work.ts'

export const routes = {
  ...requestRoutes,
  ...replayRoutes,
  ...dryRunRoutes,
  ...workRoutes,
  ...gatewayRoutes,
  ...streamRoutes,
  ...issueRoutes,
  ...accessRoutes,
}

/** The schemas of all queries and bodies, by the names of their validators. */
export function schemasOfRoutes(): Readonly<Record<string, Schema>> {
  const all = Object.entries<RouteDeclaration>(routes)
  return Object.fromEntries(
    all.flatMap(([name, { query, body }]) => [
      ...(query ? [[`${name}_query`, closedObject(query)] as const] : []),
      ...(body ? [[`${name}_body`, body] as const] : []),
    ]),
  )
}
