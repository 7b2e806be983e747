package import Foundation
import PrivateFiles

/// The file in which `larder devices revoke` names a device that the server of the data directory is to unpair. Who may
/// write there operates the server.
package struct RevocationFile: Sendable {
    private let url: URL

    /// The file of a data directory.
    package init(in dataDirectory: URL) {
        url = dataDirectory.appending(path: "device.revoked")
    }

    /// Names a device.
    ///
    /// - Throws: `PrivateFile.Failure`, also if the server has not done what another command has left.
    package func leave(_ id: String) throws {
        try PrivateFile(at: url, Data(id.utf8)).write(replaces: false)
    }

    /// Whether a device is named that the server has not looked at.
    package var isPending: Bool { access(url.path, F_OK) == 0 }

    /// Withdraws what was named.
    package func remove() { unlink(url.path) }

    /// The identity of the device that is named; nil for none.
    var named: String? {
        guard isPending else { return nil }
        return (try? Data(contentsOf: url)).map { String(decoding: $0, as: UTF8.self) }
    }
}
