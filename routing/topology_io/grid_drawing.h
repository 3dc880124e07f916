// Draws labelled cells of a grid and the links between neighbouring cells, in ASCII:
//
//     n0 --c0-- n1
//      |         |
//     c3        c1
//      |         |
//     n3 --c2-- n2
#ifndef CABLEWAY_ROUTING_TOPOLOGY_IO_GRID_DRAWING_H_
#define CABLEWAY_ROUTING_TOPOLOGY_IO_GRID_DRAWING_H_

#include <cstddef>
#include <string>
#include <vector>

namespace cableway::routing {

class GridDrawing {
 public:
  struct Link {
    std::string label;     // may be empty
    bool several = false;  // drawn as a double line
  };

  GridDrawing(std::size_t rows, std::size_t columns);

  // Preconditions: the cells exist, and both ends of a link are nodes or corners when it is drawn.
  void set_node(std::size_t row, std::size_t column, std::string label);
  void set_corner(std::size_t row, std::size_t column);  // a link bends here
  void link_right(std::size_t row, std::size_t column, Link link);
  void link_down(std::size_t row, std::size_t column, Link link);
  void cross();  // both diagonals of a grid of 2 x 2

  // The width of the drawing in characters.
  std::size_t width() const;
  // Lines without trailing spaces, each ending with a newline.
  std::string text() const;

 private:
  struct Cell {
    std::string label;
    bool is_corner = false;
    bool is_linked_right = false;
    bool is_linked_down = false;
    Link right;
    Link down;
  };
  using Lines = std::vector<std::string>;

  Cell& cell(std::size_t row, std::size_t column) { return cells_[row * columns_ + column]; }
  const Cell& cell(std::size_t row, std::size_t column) const { return cells_[row * columns_ + column]; }
  std::size_t label_width(std::size_t column) const;
  std::size_t down_label_width(std::size_t column) const;
  std::size_t gap_after(std::size_t column) const;
  std::vector<std::size_t> column_starts() const;
  std::size_t height_below(std::size_t row, const std::vector<std::size_t>& starts) const;
  void draw_row(std::size_t row, const std::vector<std::size_t>& starts, Lines& lines) const;
  void draw_below(std::size_t row, const std::vector<std::size_t>& starts, std::size_t height, Lines& lines) const;

  std::size_t rows_;
  std::size_t columns_;
  std::vector<Cell> cells_;
  bool is_crossed_ = false;
};

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TOPOLOGY_IO_GRID_DRAWING_H_
