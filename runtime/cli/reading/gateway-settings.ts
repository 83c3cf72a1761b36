/**
 * Owns where a configuration has its gateway, also while something else in it is broken: an admin who reloads or goes
 * back wants to hear what the running gateway says of it.
 */

import type { Configuration } from '@reveille/engine'
import { loadGatewayBlock } from '../../reload/gateway-block.ts'
import { findConfiguration, loadOrFail } from '../configuration.ts'
import type { Io } from '../io.ts'

/** @throws CommandFailure with all that is wrong, where the block `gateway:` cannot be used either */
export async function loadGatewaySettings(
  options: { readonly config?: string },
  io: Io,
): Promise<Pick<Configuration, 'settings'>> {
  try {
    return await loadOrFail(options, io)
  } catch (failure) {
    const block = await loadGatewayBlock({ file: findConfiguration(options, io), env: io.env })
    if (block === undefined) throw failure
    return block
  }
}
