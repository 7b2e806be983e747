import HTTPTypes
import Upstream

// Validation of lists before they replace stored ones.
extension ResourceRecord {
    /// Returns the record of the requested folder with the rows that are in it, and no more than were requested. Other
    /// rows count for the position only.
    ///
    /// - Throws: ``UpstreamError/badResponse(status:reason:)`` for another folder, and for a list that cannot be a part
    ///   of its content.
    func listing(_ folder: DiskPath, limit: Int, offset: Int) throws(UpstreamError) -> ResourceRecord {
        var record = try about(folder)
        record.embedded = try embedded?.checked(limit: limit, offset: offset) { $0.path.parent == folder }
        return record
    }

    /// Returns the record if it is that of the requested path.
    ///
    /// - Throws: ``UpstreamError/badResponse(status:reason:)`` for another path, and for a root that is a file.
    func about(_ path: DiskPath) throws(UpstreamError) -> ResourceRecord {
        guard let item, item.path == path, item.kind == .dir || !path.isRoot else {
            throw .badResponse(status: .ok, reason: "another path than was asked for")
        }
        return self
    }
}

extension ResourceRecord.Embedded {
    fileprivate func checked(limit: Int, offset: Int, _ belongs: (DiskItem) -> Bool) throws(UpstreamError) -> Self {
        guard self.offset ?? offset == offset else {
            throw .badResponse(status: .ok, reason: "a part of the list that was not asked for")
        }
        guard total != nil || !rows.isEmpty else {
            throw .badResponse(status: .ok, reason: "no rows and no total that says so")
        }
        if let total {
            guard total >= 0 else { throw .badResponse(status: .ok, reason: "a negative total") }
            guard rows.isEmpty || total - rows.count >= offset else {
                throw .badResponse(status: .ok, reason: "a total that is less than its rows")
            }
            guard !rows.isEmpty || limit == 0 || total <= offset else {
                throw .badResponse(status: .ok, reason: "no rows although its total says that there are some")
            }
        }
        var checked = self
        // A folder contains nothing of another place.
        checked.rows = try rows.prefix(limit).map { $0 == .elsewhere ? .unreadable : $0 }.belonging(belongs)
        return checked
    }
}

extension FlatListRecord {
    /// Returns a flat list with the rows that can be in it, and no more than were requested.
    ///
    /// - Throws: ``UpstreamError/badResponse(status:reason:)`` for a part of the list that was not requested, and for a
    ///   list without a usable row.
    func listing(limit: Int, offset: Int, _ belongs: (DiskItem) -> Bool) throws(UpstreamError) -> FlatListRecord {
        guard self.offset ?? offset == offset else {
            throw .badResponse(status: .ok, reason: "a part of the list that was not asked for")
        }
        guard !rows.isEmpty || self.limit != nil else {
            throw .badResponse(status: .ok, reason: "no rows and no limit that says how many were requested")
        }
        var record = self
        record.rows = try Array(rows.prefix(limit)).belonging {
            $0.path.scheme == .disk && !$0.path.isRoot && belongs($0)
        }
        return record
    }
}

extension [ListedRow] {
    /// Returns the rows with those of another place marked as unreadable, since they cannot be in this list.
    ///
    /// - Throws: ``UpstreamError/badResponse(status:reason:)`` if there are rows and none is usable.
    fileprivate func belonging(_ belongs: (DiskItem) -> Bool) throws(UpstreamError) -> [ListedRow] {
        let rows = map { row in
            if case .item(let item) = row, !belongs(item) { ListedRow.unreadable } else { row }
        }
        guard rows.isEmpty || rows.contains(where: { $0 != .unreadable }) else {
            throw .badResponse(status: .ok, reason: "a list without a single usable row")
        }
        return rows
    }
}
