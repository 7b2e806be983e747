package import Foundation
package import Freshness
import HTTPTypes
import Synchronization

/// Makes codes, and devices of codes.
package final class Pairing: Sendable {
    /// A code that was made.
    package struct Made: Sendable {
        /// The code.
        package let code: PairingCode
        /// When it ends.
        package let end: Date
    }

    /// The profile of devices whose code names none.
    package static let standardProfile = "local"

    private let devices: DeviceStore
    private let file: PairingCodeFile?
    private let clock: WallClock
    private let ledger = Mutex(PairingLedger())
    /// Held while the file is read: who comes meanwhile finds its code in the ledger.
    private let reading = Mutex(())

    /// Creates pairing for a server.
    ///
    /// - Parameter file: Where another program leaves codes; nil for none.
    package init(devices: DeviceStore, file: PairingCodeFile? = nil, clock: WallClock) {
        self.devices = devices
        self.file = file
        self.clock = clock
    }

    /// Makes a code, which replaces the one before.
    package func makeCode(profile: String = standardProfile) -> Made {
        let (code, end) = (PairingCode.make(), clock.now().addingTimeInterval(PairingCode.lifetime))
        ledger.withLock { $0.offer(PairingLedger.Offer(codeHash: code.hash, profile: profile, end: end)) }
        return Made(code: code, end: end)
    }

    /// Pairs a device.
    ///
    /// - Parameter address: The client, which has a limit of wrong codes.
    /// - Throws: 403 for a wrong or late code, 409 if there are too many devices, 429 after too many wrong codes;
    ///   `StorageError`, then the code is as before.
    func pair(_ typed: String, name: String, from address: String?, _ carrier: SessionCarrier) async throws
        -> (device: Device, token: String)
    {
        guard devices.hasRoom else { throw Problem.tooManyDevices }
        let now = clock.now()
        // Addresses that have to wait read no file.
        if ledger.withLock({ $0.wait(of: address, at: now) }) == nil { takeCode(now: now) }
        let outcome = ledger.withLock { $0.use(PairingCode(typed)?.hash, by: address, at: now) }
        switch outcome {
        case .right(let offer): return try await add(name, of: offer, carrier)
        case .late: throw Problem(.pairingRefused, .lateCode)
        case .wrong: throw Problem(.pairingRefused, .wrongCode)
        case .tooMany(let seconds):
            throw Problem(.rateLimited, .tooManyCodes, headerFields: [.retryAfter: String(seconds)])
        }
    }

    /// Offers the code that another program has left.
    private func takeCode(now: Date) {
        reading.withLock { _ in
            guard let left = file?.take() else { return }
            let end = min(left.end, now.addingTimeInterval(PairingCode.lifetime))
            let offer = PairingLedger.Offer(codeHash: left.codeHash, profile: left.profile, end: end)
            ledger.withLock { $0.offer(offer) }
        }
    }

    private func add(_ name: String, of offer: PairingLedger.Offer, _ carrier: SessionCarrier) async throws
        -> (device: Device, token: String)
    {
        do {
            return try await devices.add(name: name, profile: offer.profile, carrier)
        } catch {
            ledger.withLock { $0.giveBack(offer) }
            throw error
        }
    }
}
