import ArgumentParser
import Foundation
import ResponseStore

/// `larder cache size`.
struct CacheSizeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "size",
        abstract: "Show how much each upstream has stored, against the budget.",
        discussion: """
            Counted are bodies, header fields and keys; what SQLite needs around them
            comes on top.

            EXAMPLES
              larder cache size
              larder cache size --data-directory ./data --cache-budget-mb 64
            """
    )

    @OptionGroup var options: CacheOptions

    func run() async throws {
        let configuration = try options.load()
        let budget = configuration.cacheBudget.bytes
        try configuration.inspectingCache { inspection in
            let lines = try Self.lines(inspection.totals(), budget: budget)
            let width = lines.map(\.name.count).max() ?? 0
            for line in lines {
                let name = line.name.padding(toLength: width, withPad: " ", startingAt: 0)
                StandardOutput.write("\(name)  \(line.amount)\n")
            }
        }
    }

    private static func lines(
        _ totals: (upstreams: [ResponseStore.Total], pages: Int, pageBytes: Int),
        budget: Int
    ) -> [(name: String, amount: String)] {
        func amount(_ bytes: Int, _ count: Int, _ noun: String) -> String {
            "\(HumanReadable.bytes(bytes)) in \(HumanReadable.count(count, noun))"
        }
        let sum = totals.upstreams.reduce(totals.pageBytes) { $0 + $1.bytes }
        let share = "\(HumanReadable.bytes(sum)) of \(HumanReadable.bytes(budget)) (\(sum * 100 / budget) %)"
        return totals.upstreams.map { ($0.upstream, amount($0.bytes, $0.responses, "response")) } + [
            ("page lists", amount(totals.pageBytes, totals.pages, "list")), ("all", share),
        ]
    }
}
