import Foundation
import Storage
import Upstream

// Reads that are served without a request.
extension CatalogueAPI {
    /// Returns a part of the list of products if it is served without a request, with a body that is stored with it.
    ///
    /// - Parameter witness: Taken before the transaction within which this is called.
    /// - Throws: `StorageError`.
    func storedProducts(_ query: CatalogueQuery, _ options: PartOptions, since witness: ReadWitness) throws -> (
        result: ReadResult, body: Data
    )? {
        let resource = products(query, options)
        guard let witness = upstream.witness(of: resource.url, since: witness),
            let result = try upstream.storedRead(of: resource, options.cachePolicy, since: witness),
            let response = result.response, case .bytes(let body) = response.body
        else { return nil }
        return (result, body)
    }

    /// Returns the read of one product, without its response, if it is served without a request.
    ///
    /// - Parameter witness: Taken before the transaction within which this is called.
    /// - Throws: `StorageError`.
    func storedProduct(_ id: Int, _ cachePolicy: CachePolicy, bundledAt: Date, since witness: ReadWitness) throws
        -> ReadResult?
    {
        try stored(product(id, bundledAt: bundledAt) { _, _ in }, cachePolicy, since: witness)
    }

    private func stored(_ resource: Resource, _ cachePolicy: CachePolicy, since witness: ReadWitness) throws
        -> ReadResult?
    {
        guard let witness = upstream.witness(of: resource.url, since: witness) else { return nil }
        return try upstream.storedResult(of: resource, cachePolicy, since: witness)
    }

    /// Returns the read of all categories, without its response, if it is served without a request.
    ///
    /// - Parameter witness: Taken before the transaction within which this is called.
    /// - Throws: `StorageError`.
    func storedCategories(_ cachePolicy: CachePolicy, since witness: ReadWitness) throws -> ReadResult? {
        try stored(categories(acceptsEmpty: true) { _, _ in }, cachePolicy, since: witness)
    }
}
