package import Foundation
import PrivateFiles

/// The file in which `larder pair` leaves the hash of a code for the server of the data directory. Who may write there
/// operates the server.
package struct PairingCodeFile: Sendable {
    private let url: URL

    /// The file of a data directory.
    package init(in dataDirectory: URL) {
        url = dataDirectory.appending(path: "pairing.code")
    }

    /// Leaves a code, in place of the one before.
    ///
    /// - Throws: `PrivateFile.Failure`.
    package func leave(_ code: PairingCode, profile: String, until end: Date) throws {
        let offer = PairingLedger.Offer(codeHash: code.hash, profile: profile, end: end)
        try PrivateFile(at: url, try JSONEncoder().encode(offer)).write(replaces: true)
    }

    /// Returns what was left and removes it; nil if there is nothing, or nothing that can be read.
    func take() -> PairingLedger.Offer? {
        guard let bytes = try? Data(contentsOf: url) else { return nil }
        do {
            try FileManager.default.removeItem(at: url)
        } catch {
            // It would be good more than once.
            return nil
        }
        return try? JSONDecoder().decode(PairingLedger.Offer.self, from: bytes)
    }
}
