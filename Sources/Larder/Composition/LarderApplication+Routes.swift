import Certificates
import Foundation
import HTTPServer
import Screens
import Web

extension LarderApplication {
    /// The routes of paired devices.
    static func devices(_ resources: ServerResources) -> DeviceRoutes {
        let http = resources.configuration.http
        return DeviceRoutes(
            devices: resources.devices,
            codes: resources.pairing,
            mode: http.access,
            address: PairingAddress.origin(of: http, resources.certificate?.current.names, port: http.port),
            events: resources.events
        )
    }

    /// What unpairs devices that commands name.
    static func revocations(_ resources: ServerResources) -> DeviceRevocations {
        DeviceRevocations(
            resources.devices,
            file: RevocationFile(in: resources.configuration.dataDirectory),
            events: resources.events,
            logger: resources.logger
        )
    }

    /// The routes of the front end; nil if it is not served.
    static func pages(_ configuration: LarderConfiguration) throws -> WebRoutes? {
        guard configuration.web.isEnabled else { return nil }
        let assets = try configuration.web.folder.map { try WebAssets(folder: $0) } ?? WebAssets.embedded
        return WebRoutes(
            assets: assets,
            publicOrigin: configuration.http.publicURL?.origin,
            scheme: configuration.http.scheme
        )
    }

    /// The middleware and the routes behind it.
    static func router(
        _ table: RouteTable,
        _ resources: ServerResources,
        _ identities: RequestIdentities
    ) -> ScreenRouter {
        let http = resources.configuration.http
        let origins = OriginRules(
            allowed: http.allowedOrigins,
            own: http.publicURL.map { [$0.origin] } ?? [],
            scheme: http.scheme
        )
        return ScreenRouter(
            table: table,
            sessions: resources.sessions,
            hosts: hosts(resources),
            origins: origins,
            identities: identities,
            proxies: http.trustedProxies,
            access: AccessRules(
                http.access,
                operatorKey: OperatorKey(http.operatorKey),
                proxies: http.trustedProxies,
                origins: origins
            ),
            devices: resources.devices,
            paths: resources.paths
        )
    }

    static func hosts(_ resources: ServerResources) -> HostRules {
        let http = resources.configuration.http
        return HostRules(
            boundHost: http.host,
            allowed: http.allowedHosts + (http.publicURL.map { [$0.host] } ?? []),
            isCertified: { [certificate = resources.certificate] in certificate?.current.names.contains($0) ?? false }
        )
    }

    /// The cache of complete responses; nil if its budget is 0.
    static func responseCache(_ resources: ServerResources) -> ResponseCache? {
        let bytes = resources.configuration.responseCacheBytes
        return bytes > 0
            ? ResponseCache(
                budgetBytes: bytes,
                languages: Language.tags,
                cookies: resources.sessions.cookies.prefix,
                run: resources.run,
                logger: resources.logger
            ) : nil
    }
}
