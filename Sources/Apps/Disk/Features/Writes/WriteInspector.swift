import Concurrency
import Foundation
import Screens
import Upstream

/// Determines the state after a write whose response did not arrive.
struct WriteInspector: Sendable {
    let calls: WriteCalls
    let write: DiskWrite
    let account: DiskAccount
    let clock: WallClock

    /// Observes the outcome of a write, for at most the patience of the API's configuration.
    func observe(before: WritePreparation.Before, _ bytes: UploadedBytes.Summary?) async -> WriteObservation {
        let patience = calls.client.upstream.configuration.patience
        return await withTaskGroup(of: WriteObservation?.self) { group in
            group.addTask { await look(before, bytes) }
            group.addTask {
                // Whether it ends or is cancelled does not matter: the other child returns the observation.
                try? await clock.sleep(patience)
                return nil
            }
            var observation = WriteObservation.unobserved
            while let finished = await group.next() {
                group.cancelAll()
                if let finished { observation = finished }
            }
            return observation
        }
    }

    private func look(
        _ before: WritePreparation.Before,
        _ bytes: UploadedBytes.Summary?
    ) async -> WriteObservation {
        do {
            let witnesses = write.witnesses
            var subject = try await present(witnesses.subject)
            if case .publish = write.kind, subject?.isPublished == true {
                subject?.linkEnd = try await calls.linkEnd(write.path, account)
            }
            let place = try await present(witnesses.place)
            return write.observation(subject: subject, place: place, before: before, sent: bytes)
        } catch {
            return .unobserved
        }
    }

    /// Returns the present item at a path; nil if there is none.
    ///
    /// - Throws: If the API cannot be asked, or fails.
    private func present(_ path: DiskPath?) async throws -> DiskItem? {
        guard let path else { return nil }
        do {
            return try await calls.current(path, account)
        } catch let refusal as DiskRefusal where refusal.isGone {
            return nil
        }
    }
}
