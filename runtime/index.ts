/** The public face of the runtime: a gateway to embed. */

export { createGateway, type Gateway, type GatewayOptions } from './gateway.ts'
export { ListenError, type ListenErrorCode } from './http/index.ts'
export { ConfigurationError } from './reload/start.ts'
