extension ShopStore: ShopProfiles {
    func linesReader(of productID: Int, _ profile: String) -> () throws -> [ListItem] {
        { try lines(of: productID, profile) }
    }

    func cartReader(_ profile: String, of ids: [Int]?) -> ([Product]) throws -> CartLines {
        { try cart(of: $0, profile) }
    }

    func listedProducts(without present: Set<Int>) throws -> [Int] {
        try listedProducts().subtracting(present).sorted()
    }

    func lastSearchReader(_ query: SearchQuery, _ profile: String) -> () throws -> Bool {
        { try isLast(query, profile) }
    }
}
