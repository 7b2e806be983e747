import Concurrency
import Foundation
import Screens
import Synchronization
import Upstream

/// Asks the catalogue about products on shopping lists that are missing from its list, after all of that was read.
///
/// Only the API's own word that there is no such product counts; the list may have moved while it was read.
final class ListedProductCheck: Sendable {
    /// Maximum number of products that are checked after one read of the list.
    private static let maximumCount = 10

    private let products: ProductReader
    private let sweep = Mutex(CatalogueSweep())
    private let tasks = BackgroundTasks()

    init(products: ProductReader) {
        self.products = products
    }

    /// Takes a part of the catalogue's unfiltered list that is fresh.
    func take(_ ids: [Int?], offset: Int, limit: Int, at now: Date) {
        guard let all = sweep.withLock({ $0.take(ids, offset: offset, limit: limit, at: now) }) else { return }
        tasks.start { [products] in
            // A problem 404 was recorded by the reader. After any other failure nothing is known, and the next time
            // that the list is read asks again.
            let missing = try? products.store.listedProducts().subtracting(all).sorted().prefix(Self.maximumCount)
            for id in missing ?? [] { _ = try? await products.read(id, .revalidate) }
        }
    }
}
