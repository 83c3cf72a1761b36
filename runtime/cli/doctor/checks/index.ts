/** Lists the checks in the order of the report. */

import type { Check } from '../check.ts'
import { adminToken } from './admin-token.ts'
import { backlog } from './backlog.ts'
import { channels } from './channels.ts'
import { clockAgainstGateway, clockOnline } from './clock.ts'
import { configuration } from './configuration.ts'
import { diskSpace } from './disk-space.ts'
import { exposure } from './exposure.ts'
import { fileAccess } from './file-access.ts'
import { fileModes } from './file-modes.ts'
import { fileOwners } from './file-owners.ts'
import { gatewayAnswers } from './gateway-answers.ts'
import { hooksAnswered } from './hooks-answered.ts'
import { liveFiles } from './live-files.ts'
import { mainSession } from './main-session.ts'
import { nodeVersion } from './node-version.ts'
import { openEndpoints } from './open-endpoints.ts'
import { parked } from './parked.ts'
import { sessionKeys } from './session-keys.ts'
import { signatures } from './signatures.ts'
import { sources } from './sources.ts'
import { traffic } from './traffic.ts'

export function checks({ online }: { readonly online?: boolean }): readonly Check[] {
  return [
    configuration,
    signatures,
    openEndpoints,
    sessionKeys,
    fileModes,
    fileOwners,
    fileAccess,
    gatewayAnswers,
    hooksAnswered,
    adminToken,
    exposure,
    liveFiles,
    traffic,
    sources,
    parked,
    channels,
    mainSession,
    backlog,
    nodeVersion,
    clockAgainstGateway,
    clockOnline(online ?? false),
    diskSpace,
  ]
}
