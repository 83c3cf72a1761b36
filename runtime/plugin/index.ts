/** The plugin host's public face. */

export { checkAddresses } from './addresses.ts'
export { checkPlugins, examinePlugins } from './check.ts'
export { type Connector, connectorOf } from './connector.ts'
export { diagnosticsOf } from './diagnostics.ts'
export { createPluginHost, type PluginHost, type PluginHostOptions, type PreparedPlugins } from './host.ts'
export { type ChannelOffer, type Examiner, type OfferedKey, offerOf } from './offer.ts'
export { type PluginProblem, PluginSetupError, type PluginSetupErrorCode } from './setup-error.ts'
export type { LiveSource } from './source-handle.ts'
export { type StartedSource, type StartSourceOptions, startSource } from './start-source.ts'
export { type TryOptions, tryChannel } from './try-channel.ts'
