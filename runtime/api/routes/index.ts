/** The table of all routes of the API, by the names that the OpenAPI document gives them. */

import { accessRoutes } from './access.ts'
import { dryRunRoutes } from './dry-runs.ts'
import { gatewayRoutes } from './gateway.ts'
import { issueRoutes } from './issues.ts'
import { mappingFileRoutes } from './mapping-files.ts'
import { replayRoutes } from './replays.ts'
import { requestRoutes } from './requests.ts'
import { streamRoutes } from './stream.ts'
import { workRoutes } from './work.ts'

export const routes = {
  ...requestRoutes,
  ...replayRoutes,
  ...dryRunRoutes,
  ...mappingFileRoutes,
  ...workRoutes,
  ...gatewayRoutes,
  ...streamRoutes,
  ...issueRoutes,
  ...accessRoutes,
}
