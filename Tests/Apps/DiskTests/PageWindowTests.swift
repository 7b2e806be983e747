import Foundation
import Screens
import Testing

@testable import Disk

@Suite("Windows made of stored pages")
struct PageWindowTests {
    private static func page(
        _ range: Range<Int>,
        hasMore: Bool = true,
        total: Int? = nil,
        at seconds: Double = 0,
        without removed: Set<Int> = []
    ) -> PageWindow.Source {
        var source = PageWindow.Source(
            offset: range.lowerBound,
            limit: range.count,
            hasMore: hasMore,
            total: total,
            fetchedAt: Date(timeIntervalSince1970: seconds),
            changedAt: Date(timeIntervalSince1970: seconds)
        )
        for position in range where !removed.contains(position) { source.keys[position] = "disk:/\(position)" }
        return source
    }

    private static func keys(_ range: Range<Int>) -> [String] { range.map { "disk:/\($0)" } }

    @Test("DISK-36 a window inside one page, or across two, has their rows, and is as old as the older one")
    func inside() throws {
        let pages = [Self.page(50..<75, hasMore: false, total: 75, at: 9), Self.page(0..<50, total: 75, at: 5)]
        let first = try #require(PageWindow(pages, offset: 10, limit: 20))
        #expect(first.rowKeys == Self.keys(10..<30) && first.isWhole && first.hasMore && first.total == 75)
        #expect(first.fetchedAt == Date(timeIntervalSince1970: 5))
        let across = try #require(PageWindow(pages, offset: 40, limit: 20))
        #expect(across.rowKeys == Self.keys(40..<60) && across.isWhole && across.hasMore)
        #expect(across.fetchedAt == Date(timeIntervalSince1970: 5))
    }

    @Test("DISK-36 the end of a list is known from its last page; behind it there is nothing")
    func end() throws {
        let pages = [Self.page(50..<75, hasMore: false, total: 75)]
        let last = try #require(PageWindow(pages, offset: 60, limit: 20))
        #expect(last.rowKeys == Self.keys(60..<75) && last.isWhole && !last.hasMore)
        let exact = try #require(PageWindow(pages, offset: 55, limit: 20))
        #expect(exact.rowKeys == Self.keys(55..<75) && exact.isWhole && !exact.hasMore)
        let behind = try #require(PageWindow(pages, offset: 200, limit: 20))
        #expect(behind.rowKeys.isEmpty && behind.isWhole && !behind.hasMore)
    }

    @Test("DISK-36 what is stored in part is not whole; what is not stored at all is none")
    func partial() throws {
        let pages = [Self.page(10..<20)]
        let part = try #require(PageWindow(pages, offset: 0, limit: 15))
        #expect(part.rowKeys == Self.keys(10..<15) && !part.isWhole && part.hasMore)
        let tail = try #require(PageWindow(pages, offset: 15, limit: 15))
        #expect(tail.rowKeys == Self.keys(15..<20) && !tail.isWhole && tail.hasMore)
        #expect(PageWindow(pages, offset: 20, limit: 5) == nil && PageWindow([], offset: 0, limit: 5) == nil)
    }

    @Test("DISK-36 each position is the newest page's, also if that says that the list has become shorter")
    func newest() throws {
        let newer = Self.page(0..<30, hasMore: false, total: 30, at: 9)
        let older = Self.page(20..<60, total: 60, at: 5)
        let window = try #require(PageWindow([newer, older], offset: 20, limit: 20))
        #expect(window.rowKeys == Self.keys(20..<30) && window.isWhole && !window.hasMore && window.total == 30)
        var moved = older
        moved.keys[40] = "disk:/3"
        let twice = try #require(PageWindow([Self.page(0..<40, at: 9), moved], offset: 0, limit: 60))
        #expect(twice.rowKeys.count == 59, "a row that has moved to another page is there once")
    }

    @Test("DISK-36 a row that was removed since leaves its position empty")
    func removed() throws {
        let pages = [Self.page(0..<10, hasMore: false, without: [3, 9])]
        let window = try #require(PageWindow(pages, offset: 2, limit: 3))
        #expect(window.rowKeys == ["disk:/2", "disk:/4"] && window.isWhole && window.hasMore)
        #expect(try #require(PageWindow(pages, offset: 5, limit: 4)).hasMore == false)
    }

    @Test("DISK-36 a list is stored whole from its first row to a page that says that it ends")
    func wholeList() {
        #expect(PageWindow.isWholeList([Self.page(50..<75, hasMore: false), Self.page(0..<50)]))
        #expect(PageWindow.isWholeList([Self.page(0..<60), Self.page(50..<75, hasMore: false)]))
        #expect(!PageWindow.isWholeList([Self.page(0..<40), Self.page(50..<75, hasMore: false)]))
        #expect(!PageWindow.isWholeList([Self.page(0..<50)]) && !PageWindow.isWholeList([]))
        #expect(!PageWindow.isWholeList([Self.page(10..<50, hasMore: false)]))
    }

    @Test("a window at the end of all numbers does not overflow")
    func numbers() {
        let page = Self.page(0..<3, hasMore: false)
        #expect(PageWindow([page], offset: .max, limit: 20)?.rowKeys.isEmpty ?? true)
        #expect(PageWindow([page], offset: .max - 5, limit: 20)?.rowKeys == [])
    }
}
