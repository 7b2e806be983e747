import Foundation
import Screens
import Upstream

/// Looks at what is there after a write whose response did not arrive.
struct WriteInspector: Sendable {
    let service: DiskService
    let write: DiskWrite
    let account: DiskAccount

    /// What is seen, within the patience of a client.
    func finding(before: WriteExecutor.Before, _ bytes: UploadedBytes.Summary?) async -> WriteObservation {
        let patience = service.api.upstream.configuration.patience
        return await withTaskGroup(of: WriteObservation?.self) { group in
            group.addTask { await look(before, bytes) }
            group.addTask {
                // Whether it ends or is cancelled, it has no say: the other child tells what was found.
                try? await service.clock.sleep(patience)
                return nil
            }
            var finding = WriteObservation.unclear
            while let finished = await group.next() {
                group.cancelAll()
                if let finished { finding = finished }
            }
            return finding
        }
    }

    private func look(_ before: WriteExecutor.Before, _ bytes: UploadedBytes.Summary?) async -> WriteObservation {
        do {
            let witnesses = write.witnesses
            let subject = try await present(witnesses.subject)
            let place = try await present(witnesses.place)
            return write.finding(subject: subject, place: place, before: before, sent: bytes)
        } catch {
            return .unclear
        }
    }

    /// What is at a path now; nil if nothing is. Throws if that cannot be told.
    private func present(_ path: DiskPath?) async throws -> DiskItem? {
        guard let path else { return nil }
        do {
            return try await service.authorized(account.id) { try await service.api.current(path, $0) }
        } catch let refusal as DiskRefusal where refusal.isGone {
            return nil
        }
    }
}
