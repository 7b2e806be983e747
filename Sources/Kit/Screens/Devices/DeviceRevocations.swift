package import Foundation
package import Logging
import Server
import ServiceLifecycle

/// Unpairs the devices that commands name while the server runs. It looks once a second whether there is a file, so a
/// command needs no port. A signal could reach another program of the data directory.
package struct DeviceRevocations: Service {
    /// Time between two looks.
    static let interval: Duration = .seconds(1)

    private let devices: DeviceStore
    private let file: RevocationFile
    private let events: EventStream
    private let logger: Logger

    package init(_ devices: DeviceStore, file: RevocationFile, events: EventStream, logger: Logger) {
        self.devices = devices
        self.file = file
        self.events = events
        self.logger = logger
    }

    package func run() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await revokeNamed()
                do { try await Task.sleep(for: Self.interval) } catch { return }
            }
        }
    }

    /// Unpairs the device that is named, if one is.
    func revokeNamed() async {
        guard let id = file.named else { return }
        do {
            try await devices.remove(id)
            events.publish(.devicesChanged)
            logger.notice("a device was unpaired by a command", metadata: ["device": "\(id)"])
        } catch {
            logger.error("a device could not be unpaired", metadata: ["device": "\(id)", "error": "\(error)"])
        }
        // The command checks whether the device was removed.
        file.remove()
    }
}

extension ServerEvent {
    static let devicesChanged = ServerEvent(kind: "devices-changed", data: [], audience: .everyone)
}

/// The file in which `larder devices revoke` names a device that the server of the data directory is to unpair. Who may
/// write there operates the server.
package struct RevocationFile: Sendable {
    private let url: URL

    package init(in dataDirectory: URL) {
        url = dataDirectory.appending(path: "device.revoked")
    }

    /// Names a device.
    ///
    /// - Throws: `PrivateFile.Failure`, also if the server has not yet processed the file of another command.
    package func leave(_ id: String) throws {
        try PrivateFile(at: url, Data(id.utf8)).write(replaces: false)
    }

    /// Whether a device is named that the server has not processed yet.
    package var isPending: Bool { access(url.path, F_OK) == 0 }

    /// Withdraws the named device.
    package func remove() { unlink(url.path) }

    /// The identity of the device that is named; nil for none.
    var named: String? {
        guard isPending else { return nil }
        return (try? Data(contentsOf: url)).map { String(decoding: $0, as: UTF8.self) }
    }
}
