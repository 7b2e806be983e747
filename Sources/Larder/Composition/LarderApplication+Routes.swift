import Certificates
import Foundation
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
}
