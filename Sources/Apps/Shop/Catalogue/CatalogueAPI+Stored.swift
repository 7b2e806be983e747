import Foundation
import Storage
import Upstream

// Reads that are served without a request.
extension CatalogueAPI {
    /// Returns a part of the list of products if it is served without a request, with a body that is stored with it.
    ///
    /// - Parameter readToken: Taken before the transaction within which this is called.
    /// - Throws: `StorageError`.
    func storedProducts(_ query: CatalogueQuery, _ options: PartOptions, since readToken: ReadToken) throws -> (
        result: ReadResult, body: Data
    )? {
        let resource = products(query, options)
        guard let readToken = upstream.readToken(of: resource.url, since: readToken),
            let result = try upstream.storedRead(of: resource, options.cachePolicy, since: readToken),
            let response = result.response, case .bytes(let body) = response.body
        else { return nil }
        return (result, body)
    }

    /// Returns the read of one product, without its response, if it is served without a request.
    ///
    /// - Parameter readToken: Taken before the transaction within which this is called.
    /// - Throws: `StorageError`.
    func storedProduct(_ id: Int, _ cachePolicy: CachePolicy, bundledAt: Date, since readToken: ReadToken) throws
        -> ReadResult?
    {
        try stored(product(id, bundledAt: bundledAt) { _, _ in }, cachePolicy, since: readToken)
    }

    private func stored(_ resource: Resource, _ cachePolicy: CachePolicy, since readToken: ReadToken) throws
        -> ReadResult?
    {
        guard let readToken = upstream.readToken(of: resource.url, since: readToken) else { return nil }
        return try upstream.storedResult(of: resource, cachePolicy, since: readToken)
    }

    /// Returns the read of all categories, without its response, if it is served without a request.
    ///
    /// - Parameter readToken: Taken before the transaction within which this is called.
    /// - Throws: `StorageError`.
    func storedCategories(_ cachePolicy: CachePolicy, since readToken: ReadToken) throws -> ReadResult? {
        try stored(categories(acceptsEmpty: true) { _, _ in }, cachePolicy, since: readToken)
    }
}
