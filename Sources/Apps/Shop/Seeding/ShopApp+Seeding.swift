import Cluster
package import Screens

extension ShopApp {
    /// Lines of shopping lists: `{"product_id", "quantity"?, "profile"?}`. Products come from the catalogue.
    package var seeding: Seeding {
        store.users.isShared
            ? Seeding() : Seeding(members: ["list": { [lists, store] in try await lists.seed($0, in: store) }])
    }
}

extension Lists {
    /// Reads a line of a test's document.
    fileprivate func seed(_ fields: JSONFields, in store: ShopStore) async throws -> SeedStep {
        try fields.requireOnly("product_id", "quantity", "profile")
        let profile = try fields.profile()
        let (id, quantity) = try Self.addition(fields)
        let product: Product
        do {
            product = try await products.known(id)
        } catch let problem as Problem where problem.code == .notFound {
            throw Problem.validation([.field("/product_id", "unknown", "The catalogue has no product \(id).")])
        }
        return SeedStep { db in
            guard case .added = try store.seed(product, quantity: quantity, to: profile, db) else {
                throw Problem.validation([
                    .field("/product_id", "duplicate", "The list is full, or has this product already.")
                ])
            }
        }
    }
}
