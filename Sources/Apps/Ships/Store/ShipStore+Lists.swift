import Screens
import Upstream

extension ShipStore: ShipLists {
    func listing(account: String, page: PageRequest, since: Int?) -> ShipReading<ShipPage> {
        .local(database) { try ShipPage($0, account: account, page: page, since: since) }
    }

    func ship(_ id: String, account: String) -> ShipReading<ShipOfAccount?> {
        .local(database) { try Self.ship(id, account: account, $0) }
    }

    func refresh(
        from api: SpaceXAPI,
        _ cachePolicy: CachePolicy,
        else snapshot: ShipSnapshot,
        changed: @escaping @Sendable (_ revision: Int) -> Void
    ) async throws -> ReadResult {
        let result = try await api.readShips(cachePolicy, bundledAt: snapshot.recordedAt) { records in
            persistRows(of: records.ships, onCommit: changed)
        }
        if result.response == nil { try await importSnapshot(snapshot.records.ships) }
        return result
    }
}
