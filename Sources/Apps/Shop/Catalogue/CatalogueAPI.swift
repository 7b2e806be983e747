import Foundation
import GRDB
import HTTP
import HTTPTypes
import Screens
import Storage
import Upstream

/// The Platzi Fake Store API as far as the app uses it: products, categories, and pictures wherever products say they
/// are.
///
/// Anyone may write to it, and it is reset every night. Source: PlatziLabs/fake-api-backend; documentation at
/// fakeapi.platzi.com.
struct CatalogueAPI: Sendable {
    /// Writes rows of a response, in the transaction that stores the response.
    typealias Save<Row> = @Sendable ([Row], Database) throws -> Void

    /// Path of the products below the base URL.
    static let productsPath = "/products"
    /// Path of the categories below the base URL.
    static let categoriesPath = "/categories"

    let upstream: Upstream
    let settings: SettingValues

    /// The part of the list of products to read, and how to read it.
    struct PartOptions: Sendable {
        var offset: Int
        var limit: Int
        var cachePolicy: CachePolicy
        /// When anything of the catalogue was last fetched: the result has no response if nothing is stored.
        var bundledAt: Date?
        /// Whether to wait for the upstream to its total time-out even if there is a copy.
        var waits = false
        /// Whether an empty list is valid, not the response of something broken.
        var acceptsEmpty = true
        /// Called with the usable products of a new response.
        var save: Save<Product>

        /// Rows to decode. An upstream that ignores paging sends all that it has; one row more shows that.
        var decodedRows: Int { limit + 1 }

        func with(offset: Int) -> PartOptions {
            var options = self
            options.offset = offset
            return options
        }
    }

    /// Reads a resource.
    ///
    /// - Throws: `UpstreamFailure`.
    func read(_ resource: Resource, _ cachePolicy: CachePolicy) async throws -> ReadResult {
        try await upstream.reportingFailures { try await upstream.read(resource, cachePolicy) }
    }

    /// Reads a part of the list of products.
    ///
    /// - Returns: The body is nil if there is no response, or if it was evicted while it was read.
    /// - Throws: `UpstreamFailure`.
    func readProducts(_ query: CatalogueQuery, _ options: PartOptions) async throws -> (result: ReadResult, body: Data?)
    {
        let resource = products(query, options)
        return try await upstream.reportingFailures { try await upstream.readBody(of: resource, options.cachePolicy) }
    }

    func products(_ query: CatalogueQuery, _ options: PartOptions) -> Resource {
        let path = query.path(offset: options.offset, limit: options.limit)
        var resource = resource(path, ShopApp.freshness) { (response) throws(UpstreamError) in
            let records = try Self.list(of: ProductRecord.self, in: response, maximum: options.decodedRows).values
            guard records.isEmpty ? options.acceptsEmpty : records.contains(where: { $0?.id != nil }) else {
                throw .badResponse(status: response.status, reason: "a list without a single product")
            }
            let products = records.prefix(options.limit).compactMap { $0?.product }
            return .init { db in try options.save(products, db) }
        }
        resource.bundledAt = options.bundledAt
        resource.bundledSource = .upstream
        resource.waitsToTimeout = options.waits
        return resource
    }

    /// Returns the ids of a part of the list that is stored, nil for a row without one; nil if it is not stored.
    func storedIDs(_ query: CatalogueQuery, _ options: PartOptions) async throws -> [Int?]? {
        let path = query.path(offset: options.offset, limit: options.limit)
        let resource = resource(path, ShopApp.freshness) { _ in .none }
        do {
            return try await upstream.readBody(of: resource, .onlyIfCached).body.map { body in
                let ids = try? TolerantList<ProductID>(json: body, maximum: options.decodedRows)
                return (ids?.values ?? []).map { $0?.value }
            }
        } catch UpstreamError.notStored {
            return nil
        }
    }

    /// One product. The error of a failed read is `rejected` only if there is no such product.
    ///
    /// - Parameters:
    ///   - bundledAt: When the product was last seen in a list; nil if never.
    ///   - save: Called with the product of a new response.
    func product(_ id: Int, bundledAt: Date?, save: @escaping Save<Product> = { _, _ in }) -> Resource {
        let path = "\(Self.productsPath)/\(id)"
        var resource = resource(path, ShopApp.freshness) { (response) throws(UpstreamError) in
            guard let product = (try? JSONDecoder().decode(ProductRecord.self, from: Data(response.body)))?.product,
                product.id == id
            else {
                throw .badResponse(status: response.status, reason: "not the product")
            }
            return .init { db in try save([product], db) }
        }
        resource.errors = ErrorForm { Self.isMissing(path, status: $0.status, body: $0.body) }
        resource.bundledAt = bundledAt
        resource.bundledSource = .upstream
        return resource
    }

    /// All categories.
    ///
    /// - Parameters:
    ///   - acceptsEmpty: Whether an empty list is valid, not the response of something broken.
    ///   - save: Called with the categories of a new response.
    func categories(acceptsEmpty: Bool = true, save: @escaping Save<Product.Category> = { _, _ in }) -> Resource {
        var resource = resource(Self.categoriesPath, ShopApp.categoryFreshness) { (response) throws(UpstreamError) in
            let list = try Self.list(of: CategoryRecord.self, in: response)
            guard !list.isTruncated else {
                throw .badResponse(status: response.status, reason: "a list of over \(ListLimit.elements) categories")
            }
            let records = list.values
            var seen = Set<Int>()
            let categories = records.compactMap { $0?.category }.filter { seen.insert($0.id).inserted }
            guard !categories.isEmpty || records.isEmpty && acceptsEmpty else {
                throw .badResponse(status: response.status, reason: "a list without a single category")
            }
            return .init { db in try save(categories, db) }
        }
        resource.isSourceOfRows = true
        return resource
    }

    private func resource(
        _ path: String,
        _ freshness: Setting<Duration>,
        validate: @escaping @Sendable (IncomingResponse) throws(UpstreamError) -> Resource.PersistRows
    ) -> Resource {
        Resource(
            url: upstream.configuration.url(of: path),
            headerFields: [.accept: "application/json"],
            freshness: settings[freshness],
            validate: validate
        )
    }
}

extension CatalogueAPI {
    /// Returns the rows of a stored part of the list, in order; nil for a row without an id, so that positions count.
    static func rows(in body: Data, _ options: PartOptions) -> [ListedProduct?] {
        ((try? TolerantList<ProductRecord>(json: body, maximum: options.decodedRows))?.values ?? []).map { record in
            record.flatMap { record in record.id.map { ListedProduct(id: $0, isUsable: record.product != nil) } }
        }
    }

    /// Whether a response says that there is no such row. The API sends 400 with an object that names the path; its 404
    /// is about a route.
    static func isMissing(_ path: String, status: HTTPResponse.Status, body: [UInt8]) -> Bool {
        struct Report: Decodable {
            let name: String
            let path: String?
        }
        guard status == .badRequest, let report = try? JSONDecoder().decode(Report.self, from: Data(body)),
            report.name == "EntityNotFoundError"
        else { return false }
        return report.path.map { $0.hasSuffix(path) } ?? true
    }

    /// Decodes a list whose elements may be unusable.
    static func list<Record: Decodable & Sendable>(
        of type: Record.Type,
        in response: IncomingResponse,
        maximum: Int = ListLimit.elements
    ) throws(UpstreamError) -> TolerantList<Record> {
        try response.usable { body throws(UnusableResponse) in
            try TolerantList(json: body, as: "a list", maximum: maximum)
        }
    }
}

/// A row of a list of products.
struct ListedProduct: Sendable, Equatable {
    let id: Int
    /// Whether the row has all fields that a product needs; if not, the product stored under its id is from an earlier
    /// response.
    let isUsable: Bool
}

// Reads that are served without a request.
extension CatalogueAPI {
    /// Returns a part of the list of products if it is served without a request, with a body that is stored with it.
    ///
    /// - Parameter readToken: Taken before the transaction within which this is called.
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

    /// Returns the read of a resource, without its response, if it is served without a request.
    ///
    /// - Parameter readToken: Taken before the transaction within which this is called.
    func stored(_ resource: Resource, _ cachePolicy: CachePolicy, since readToken: ReadToken) throws -> ReadResult? {
        guard let readToken = upstream.readToken(of: resource.url, since: readToken) else { return nil }
        return try upstream.storedResult(of: resource, cachePolicy, since: readToken)
    }
}
