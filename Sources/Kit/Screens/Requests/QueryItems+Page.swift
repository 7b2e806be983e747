extension QueryItems {
    /// Returns the part of a list that `limit` and `cursor` or `offset` name (docs/contract.md, "Paging").
    ///
    /// An `offset` of 0 beside a cursor is none: generated clients send it if they do not know better.
    ///
    /// - Throws: 400 if limit or offset are not integers or out of range, if the cursor is not one of this list, and if
    ///   both a cursor and an offset above 0 are given.
    package func page(of list: PagedList, defaultLimit: Int = 100, maximumLimit: Int = 100) throws -> PageRequest {
        var page = try page(defaultLimit: defaultLimit, maximumLimit: maximumLimit)
        guard let cursor = try string("cursor") else { return page }
        guard page.offset == 0 else {
            throw Problem.invalidParameter("cursor", accepted: "cannot stand beside offset")
        }
        do throws(PagedList.CursorError) {
            let key = try list.key(of: cursor)
            page.key = key
            if list.isByPosition { page.offset = Int(key[0].integer ?? 0) }
        } catch {
            throw error.problem
        }
        return page
    }

    /// Returns `limit` and `offset`.
    /// - Throws: 400 if they are not integers or out of range.
    func page(defaultLimit: Int = 100, maximumLimit: Int = 100) throws -> PageRequest {
        PageRequest(
            limit: try integer("limit", in: 1...maximumLimit) ?? defaultLimit,
            offset: try integer("offset", in: 0...Int.max) ?? 0
        )
    }
}
